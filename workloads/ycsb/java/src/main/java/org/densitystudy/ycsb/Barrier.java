package org.densitystudy.ycsb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.TimeoutException;

/**
 * Makes the clients of one trial start at the same moment: each writes {@code PREFIXready}, and reads that
 * moment, in ms of the epoch by its own host's clock, from {@code PREFIXgo}.
 */
final class Barrier {
  private static final long POLL_MS = 20;

  private final Path ready;
  private final Path go;
  private final long limitMs;

  Barrier(String prefix, long limitMs) {
    this.ready = Path.of(prefix + "ready");
    this.go = Path.of(prefix + "go");
    this.limitMs = limitMs;
  }

  /**
   * Returns at the common start, or at once if that has passed.
   *
   * @return that moment, in ms of the epoch
   * @throws TimeoutException if nobody names the moment: a client of a dead controller must end
   */
  long await() throws IOException, InterruptedException, TimeoutException {
    Files.writeString(ready, "ready\n");
    long deadlineMs = System.currentTimeMillis() + limitMs;
    String text = read();
    while (!text.endsWith("\n")) { // without its end, it is still being written
      if (System.currentTimeMillis() > deadlineMs) {
        throw new TimeoutException("nobody wrote the common start to " + go);
      }
      Thread.sleep(POLL_MS);
      text = read();
    }
    long startMs = Long.parseLong(text.strip());
    sleepUntil(startMs);
    return startMs;
  }

  /** Returns at that time of the epoch, or at once if it has passed. */
  static void sleepUntil(long epochMs) throws InterruptedException {
    long leftMs = epochMs - System.currentTimeMillis();
    if (leftMs > 0) {
      Thread.sleep(leftMs);
    }
  }

  private String read() throws IOException {
    try {
      return Files.readString(go);
    } catch (NoSuchFileException notYet) {
      return "";
    }
  }
}
