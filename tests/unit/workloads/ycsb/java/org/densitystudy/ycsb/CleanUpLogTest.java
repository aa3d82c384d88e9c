package org.densitystudy.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.measurements.Measurements;

class CleanUpLogTest {
  private static final int THREADS = 4;
  private static final int TIMES = 1500;

  @TempDir private Path folder;

  @Test
  void simultaneousCleanUpsLeaveNoGap() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    try {
      for (int time = 0; time < TIMES; time++) {
        Properties properties = measuring(folder.resolve(time + "-").toString(), "both");
        CleanUpLog.open(properties);
        cleanUpAtOnce(pool);
        for (String name : List.of("CLEANUP", "Intended-CLEANUP")) {
          String log = Files.readString(folder.resolve(time + "-" + name + ".hdr"));
          assertEquals(-1, log.indexOf('\0'), log);
          assertTrue(log.lines().anyMatch(line -> line.contains("HIST")), log);
        }
      }
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void itMeasuresNothingAndOpensOnlyYcsbsLogs() throws Exception {
    Properties properties = measuring(folder.resolve("op-").toString(), "op");
    CleanUpLog.open(properties);
    CleanUpLog.open(properties);
    assertTrue(Files.exists(folder.resolve("op-CLEANUP.hdr")));
    assertTrue(Files.notExists(folder.resolve("op-Intended-CLEANUP.hdr")));
    String log = Files.readString(folder.resolve("op-CLEANUP.hdr"));
    assertEquals(0, log.lines().filter(line -> line.contains("HIST")).count(), log);
  }

  @Test
  void withoutIntervalLogsItDoesNothing() throws Exception {
    forgetThoseBefore();
    Measurements.setProperties(null); // as YCSB's shell leaves them
    CleanUpLog.open(new Properties());
  }

  private static Properties measuring(String prefix, String interval) throws Exception {
    Properties properties = new Properties();
    properties.setProperty("measurementtype", "hdrhistogram");
    properties.setProperty("measurement.interval", interval);
    properties.setProperty("hdrhistogram.fileoutput", "true");
    properties.setProperty("hdrhistogram.output.path", prefix);
    forgetThoseBefore();
    Measurements.setProperties(properties);
    return properties;
  }

  /** A process has one set of measurements; each call here simulates its own process. */
  @AfterEach
  void forget() throws Exception {
    forgetThoseBefore();
  }

  private static void forgetThoseBefore() throws Exception {
    var single = Measurements.class.getDeclaredField("singleton");
    single.setAccessible(true);
    single.set(null, null);
  }

  /** Like `site.ycsb.DBWrapper`, while YCSB's status thread writes the ending interval. */
  private static void cleanUpAtOnce(ExecutorService pool) throws Exception {
    Measurements all = Measurements.getMeasurements();
    AtomicBoolean ending = new AtomicBoolean(true);
    Thread status =
        new Thread(
            () -> {
              while (ending.get()) {
                all.getSummary();
              }
            });
    status.start();
    CyclicBarrier together = new CyclicBarrier(THREADS);
    List<Future<?>> ended = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      ended.add(
          pool.submit(
              () -> {
                together.await();
                all.measureIntended("CLEANUP", 7);
                all.measure("CLEANUP", 7);
                return null;
              }));
    }
    for (Future<?> one : ended) {
      one.get();
    }
    ending.set(false);
    status.join();
    all.getSummary();
  }
}
