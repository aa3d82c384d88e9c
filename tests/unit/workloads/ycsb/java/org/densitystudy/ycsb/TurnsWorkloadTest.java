package org.densitystudy.ycsb;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.DB;
import site.ycsb.Workload;
import site.ycsb.WorkloadException;

class TurnsWorkloadTest {
  private static final List<Long> BEGUN_MS = new ArrayList<>();
  private static long operatedNs;

  /** Operations of 2 ms. */
  public static final class Recorded extends Workload {
    @Override
    public boolean doInsert(DB db, Object state) {
      return false;
    }

    @Override
    public boolean doTransaction(DB db, Object state) {
      long beganNs = System.nanoTime();
      BEGUN_MS.add(System.currentTimeMillis());
      try {
        Thread.sleep(2);
      } catch (InterruptedException stop) {
        return false;
      }
      operatedNs += System.nanoTime() - beganNs;
      return true;
    }
  }

  @Test
  void itWorksInItsTurnsOnlyAndEndsWithTheRun() throws Exception {
    BEGUN_MS.clear();
    operatedNs = 0;
    long startMs = System.currentTimeMillis() + 50;
    TurnsWorkload workload = workload(startMs, "0:200;400:600");
    Thread end = new Thread(() -> stop(workload, startMs + 700));
    end.start();
    TurnsWorkload.takeWaitedNs();
    long beganNs = System.nanoTime();
    while (workload.doTransaction(null, null)) {} // all is in the condition
    long restedNs = System.nanoTime() - beganNs - operatedNs;
    end.join();
    assertTrue(System.currentTimeMillis() >= startMs + 700, "it waits for the end of the run");
    for (long ms : BEGUN_MS) {
      long at = ms - startMs;
      assertTrue(at >= 0 && at < 200 || at >= 400 && at < 600, "an operation began at " + at);
    }
    assertTrue(BEGUN_MS.stream().anyMatch(ms -> ms < startMs + 200));
    assertTrue(BEGUN_MS.stream().anyMatch(ms -> ms >= startMs + 400));
    // relative to what the operations took: on a busy machine they begin late and take longer
    long waitedNs = TurnsWorkload.takeWaitedNs();
    String both = "it waited " + waitedNs + " ns of " + restedNs;
    assertTrue(waitedNs <= restedNs && waitedNs > restedNs - 50_000_000, both);
    assertEquals(0, TurnsWorkload.takeWaitedNs());
  }

  private static void stop(Workload workload, long atMs) {
    try {
      Barrier.sleepUntil(atMs);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
    workload.requestStop();
  }

  @ParameterizedTest
  @CsvSource({"0, 1000", "999, 1", "1000, 0", "1999, 0", "2000, 1000", "3500, 0"})
  void theNextTurnIsAwaited(long nowMs, long untilMs) {
    assertEquals(untilMs, TurnsWorkload.untilTurnMs(new long[] {1000, 2000, 3000, 4000}, nowMs));
  }

  @Test
  void afterTheLastTurnNoneComes() {
    assertEquals(Long.MAX_VALUE, TurnsWorkload.untilTurnMs(new long[] {1000, 2000}, 2000));
  }

  @Test
  void turnsCountFromTheCommonStart() {
    assertArrayEquals(new long[] {5, 15, 20, 30}, TurnsWorkload.edges("0:10;15:25", 5));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "5", "5:5", "0:10;5:20", "a:b", "1:2:3"})
  void faultyTurnsAreRefused(String turns) {
    assertThrows(WorkloadException.class, () -> workload(0, turns));
  }

  @Test
  void withoutTheCommonStartItDoesNotBegin() {
    Properties properties = new Properties();
    properties.setProperty(TurnsWorkload.WORKLOAD, Recorded.class.getName());
    properties.setProperty(TurnsWorkload.TURNS, "0:10");
    assertThrows(WorkloadException.class, () -> new TurnsWorkload().init(properties));
  }

  @Test
  void theWarmUpTakesNoTurns() {
    Properties trial = new Properties();
    trial.setProperty("workload", TurnsWorkload.class.getName());
    trial.setProperty(TurnsWorkload.WORKLOAD, Recorded.class.getName());
    assertEquals(Recorded.class.getName(), WarmClient.unmeasured(trial).getProperty("workload"));
    assertFalse(WarmClient.unmeasured(trial).isEmpty());
  }

  private static TurnsWorkload workload(long startMs, String turns) throws WorkloadException {
    Properties properties = new Properties();
    properties.setProperty(TurnsWorkload.WORKLOAD, Recorded.class.getName());
    properties.setProperty(TurnsWorkload.TURNS, turns);
    properties.setProperty(TurnsWorkload.START, Long.toString(startMs));
    TurnsWorkload workload = new TurnsWorkload();
    workload.init(properties);
    return workload;
  }
}
