package org.densitystudy.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BarrierTest {
  @TempDir private Path folder;

  @Test
  void itSaysThatItIsReadyAndWaitsForTheMoment() throws Exception {
    CompletableFuture<Long> start = waiting(60_000);
    while (!Files.exists(folder.resolve("c-ready"))) {
      Thread.sleep(5);
    }
    Files.writeString(folder.resolve("c-go"), "12"); // not yet all of it
    Thread.sleep(100);
    assertFalse(start.isDone());
    long startMs = System.currentTimeMillis() + 300;
    Files.writeString(folder.resolve("c-go"), startMs + "\n");
    assertEquals(startMs, start.get());
    assertTrue(System.currentTimeMillis() >= startMs);
  }

  @Test
  void aMomentThatHasPassedIsNotAwaited() throws Exception {
    Files.writeString(folder.resolve("c-go"), "12345\n");
    assertEquals(12345, waiting(60_000).get());
  }

  @Test
  void withoutAControllerItEnds() {
    Barrier barrier = new Barrier(folder.resolve("c-").toString(), 50);
    assertThrows(TimeoutException.class, barrier::await);
  }

  private CompletableFuture<Long> waiting(long limitMs) {
    Barrier barrier = new Barrier(folder.resolve("c-").toString(), limitMs);
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return barrier.await();
          } catch (Exception failure) {
            throw new IllegalStateException(failure);
          }
        });
  }
}
