package org.densitystudy.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.DB;
import site.ycsb.Workload;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;

class ScheduledWorkloadTest {
  /** When each operation began and was due, in ns. */
  private static final List<long[]> DONE = Collections.synchronizedList(new ArrayList<>());

  private static volatile long stallMs;

  @TempDir private Path folder;

  @BeforeEach
  void forget() {
    DONE.clear();
    stallMs = 0;
  }

  @Test
  void operationsAreDoneWhenTheyAreDue() throws Exception {
    ScheduledWorkload workload = workload("0.2:50:50;0.4:50:150", 1);
    run(workload, 1);
    assertEquals(50, DONE.size()); // 10 and 40
    long startNs = DONE.get(0)[1];
    LoadSchedule schedule = LoadSchedule.parse("0.2:50:50;0.4:50:150");
    for (int i = 0; i < DONE.size(); i++) {
      long[] one = DONE.get(i);
      assertEquals(schedule.dueS(i, 0) * 1e9, one[1] - startNs, 1_000);
      assertTrue(one[0] >= one[1], "it began before it was due");
    }
  }

  @Test
  void threadsTakeTurns() throws Exception {
    ScheduledWorkload workload = workload("0.5:100:100", 4);
    run(workload, 4);
    List<Long> due = DONE.stream().map(one -> one[1]).sorted().toList();
    assertEquals(50, due.size());
    for (int i = 1; i < due.size(); i++) {
      assertEquals(10_000_000, due.get(i) - due.get(i - 1), 1_000);
    }
  }

  @Test
  void aStallDelaysNoSchedule() throws Exception {
    stallMs = 200; // the first operation
    run(workload("0.4:50:50", 1), 1);
    assertEquals(20, DONE.size(), "operations that a stall delays are done nevertheless");
    long[] second = DONE.get(1);
    assertTrue(second[0] - second[1] > 150_000_000L, "its wait is part of its intended latency");
  }

  @Test
  void aThreadThatWaitsEndsWithTheRun() throws Exception {
    run(workload("100:0.001:0.001;1:1:1", 1), 1);
    assertEquals(1, DONE.size());
  }

  @Test
  void theLogHasTheOperationsAskedInEachSecond() throws Exception {
    ScheduledWorkload workload = workload("2:1:1;2:10:20", 1);
    Object turn = workload.initThread(new Properties(), 0, 1);
    long beforeMs = System.currentTimeMillis();
    workload.doTransaction(null, turn);
    workload.cleanup();
    List<String> lines = Files.readAllLines(folder.resolve("asked"));
    assertEquals("epoch_ms,piece,operations", lines.get(0));
    List<String> rest = lines.stream().skip(1).map(l -> l.substring(l.indexOf(',') + 1)).toList();
    assertEquals(List.of("0,1.000", "0,1.000", "1,12.500", "1,17.500"), rest);
    long first = Long.parseLong(lines.get(1).split(",")[0]);
    assertTrue(first >= beforeMs && first < beforeMs + 1_000);
    assertEquals(first + 3_000, Long.parseLong(lines.get(4).split(",")[0]));
  }

  @Test
  void aScheduleThatCannotBeReadIsRefused() {
    assertThrows(WorkloadException.class, () -> workload("1:1", 1));
    Properties properties = new Properties();
    properties.setProperty("schedule.pieces", "1:1:1");
    assertThrows(WorkloadException.class, () -> new ScheduledWorkload().init(properties));
  }

  @Test
  void theWarmUpOfTheClientKnowsNoSchedule() throws Exception {
    Properties properties = properties("1000:0.001:0.001", 2);
    properties.setProperty("db", WarmClientTest.Counting.class.getName());
    properties.setProperty("workload", ScheduledWorkload.class.getName());
    WarmClient.warmUp(properties, System.currentTimeMillis() + 1_000);
    assertTrue(DONE.size() > 2, "the schedule has one operation for each thread");
    assertFalse(Files.exists(folder.resolve("asked")));
  }

  /** As YCSB's client, for longer than any schedule here. */
  private static void run(ScheduledWorkload workload, int threads) throws Exception {
    List<Thread> all = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      Object turn = workload.initThread(new Properties(), thread, threads);
      all.add(new Thread(() -> work(workload, turn)));
    }
    all.forEach(Thread::start);
    Thread.sleep(900);
    workload.requestStop();
    for (Thread one : all) {
      one.join(2_000);
      assertFalse(one.isAlive());
    }
  }

  private static void work(ScheduledWorkload workload, Object turn) {
    boolean more = true;
    while (more && !workload.isStopRequested()) {
      more = workload.doTransaction(null, turn);
    }
  }

  private ScheduledWorkload workload(String pieces, int threads) throws Exception {
    Properties properties = properties(pieces, threads);
    WarmClient.forget(); // another test's may keep no intended times
    Measurements.setProperties(properties);
    ScheduledWorkload workload = new ScheduledWorkload();
    workload.init(properties);
    return workload;
  }

  private Properties properties(String pieces, int threads) {
    Properties properties = new Properties();
    properties.setProperty("schedule.workload", Noted.class.getName());
    properties.setProperty("schedule.pieces", pieces);
    properties.setProperty("schedule.log", folder.resolve("asked").toString());
    properties.setProperty("threadcount", Integer.toString(threads));
    properties.setProperty("measurement.interval", "both");
    properties.setProperty("measurementtype", "hdrhistogram");
    return properties;
  }

  /** Notes each operation; the first one stalls. */
  public static final class Noted extends Workload {
    @Override
    public boolean doInsert(DB db, Object thread) {
      return true;
    }

    @Override
    public boolean doTransaction(DB db, Object thread) {
      long dueNs = Measurements.getMeasurements().getIntendedtartTimeNs();
      boolean first = DONE.isEmpty();
      DONE.add(new long[] {System.nanoTime(), dueNs});
      try {
        Thread.sleep(first ? stallMs : 0);
      } catch (InterruptedException impossible) {
        throw new IllegalStateException(impossible);
      }
      return true;
    }
  }
}
