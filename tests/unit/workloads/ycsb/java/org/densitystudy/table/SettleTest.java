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

  private static State state(int storeFiles, int compacting) {
    return new State("t", List.of(), List.of(), storeFiles, 0, 0, compacting, 0L, 0L);
  }
}
