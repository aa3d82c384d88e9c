package org.densitystudy.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import org.densitystudy.table.TableState.State;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;

class SettleTest {
  private final Settle.Quiet quiet = new Settle.Quiet(2);

  @Test
  void aTableIsQuietAfterTwoEqualIdleReadings() {
    assertFalse(quiet.after(state(10, 0)));
    assertFalse(quiet.after(state(10, 0)));
    assertTrue(quiet.after(state(10, 0)));
  }

  @Test
  void aCompactionRestartsTheCount() {
    quiet.after(state(10, 0));
    quiet.after(state(10, 0));
    assertFalse(quiet.after(state(10, 1)));
    assertFalse(quiet.after(state(10, 0)));
    assertTrue(quiet.after(state(10, 0)));
  }

  @Test
  void aNewStoreFileRestartsTheCount() {
    quiet.after(state(10, 0));
    quiet.after(state(10, 0));
    assertFalse(quiet.after(state(11, 0)));
  }

  @Test
  void backgroundWorkIsReadFromJmx() throws IOException {
    String counters = "\"compactionQueueLength\": 3, \"CompactionTime_num_ops\": 40";
    String all = "{" + counters + ", \"splitSuccessCount\": 2}";
    assertEquals(new BackgroundWork(3, 40, 2), BackgroundWork.read(json(all), "page"));
    for (String bean : List.of("{" + counters + "}", "{}", "")) {
      Assertions.assertThrows(IOException.class, () -> BackgroundWork.read(json(bean), "page"));
    }
  }

  private static StringReader json(String bean) {
    return new StringReader("{\"beans\": [" + bean + "]}");
  }

  @Test
  void aLongCompactionIsNoStallWhileItAdvances() {
    Settle.Progress progress = new Settle.Progress(600, 0);
    for (int minute = 1; minute <= 120; minute++) {
      assertFalse(progress.isStalled(compacting(1_000L * minute), minute * MINUTE_NS));
    }
    assertFalse(progress.isStalled(compacting(120_000), 130 * MINUTE_NS));
    assertTrue(progress.isStalled(compacting(120_000), 131 * MINUTE_NS));
  }

  private static final long MINUTE_NS = 60_000_000_000L;

  private static State compacting(long cells) {
    return new State("t", List.of(), List.of(), 10, 0, 0, 1, cells, 0L, 0L);
  }

  private static State state(int storeFiles, int compacting) {
    return new State("t", List.of(), List.of(), storeFiles, 0, 0, compacting, 0, 0L, 0L);
  }
}
