package org.densitystudy.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.ByteIterator;
import site.ycsb.Client;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.measurements.Measurements;
import site.ycsb.measurements.exporter.TextMeasurementsExporter;
import site.ycsb.workloads.CoreWorkload;

class WarmClientTest {
  private static final AtomicLong READS = new AtomicLong();
  private static final AtomicLong UPDATES = new AtomicLong();
  private static final AtomicLong INSERTS = new AtomicLong();
  private static final AtomicLong OPEN = new AtomicLong();

  @TempDir private Path folder;

  @BeforeEach
  void countAnew() {
    READS.set(0);
    UPDATES.set(0);
    INSERTS.set(0);
    OPEN.set(0);
  }

  @Test
  void operationsAreTheSameExceptThatInsertsBecomeUpdates() throws Exception {
    long done = WarmClient.warmUp(clientProperties(), System.currentTimeMillis() + 500);
    assertTrue(done > 0);
    assertEquals(done, READS.get() + UPDATES.get());
    assertTrue(READS.get() > 0 && UPDATES.get() > 0);
    assertEquals(0, INSERTS.get());
  }

  @Test
  void aLoadIsWarmedUpWithoutARow() throws Exception {
    Properties load = clientProperties();
    load.setProperty(Client.DO_TRANSACTIONS_PROPERTY, "false");
    load.setProperty("readproportion", "0");
    load.setProperty("insertproportion", "1");
    long done = WarmClient.warmUp(load, System.currentTimeMillis() + 300);
    assertTrue(done > 0);
    assertEquals(done, READS.get());
    assertEquals(0, UPDATES.get() + INSERTS.get());
  }

  @Test
  void theWarmUpIsNotMeasured() throws Exception {
    Measurements.setProperties(clientProperties());
    Measurements before = Measurements.getMeasurements();
    WarmClient.warmUp(clientProperties(), System.currentTimeMillis() + 300);
    Measurements.setProperties(clientProperties());
    Measurements after = Measurements.getMeasurements();
    assertNotSame(before, after);
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    try (TextMeasurementsExporter exporter = new TextMeasurementsExporter(text)) {
      after.exportMeasurements(exporter);
    }
    assertEquals("", text.toString());
    try (var files = Files.list(folder)) {
      assertEquals(0, files.count());
    }
  }

  @Test
  void itEndsAtItsTimeEvenAfterALateStart() throws Exception {
    long untilMs = System.currentTimeMillis() + 700;
    WarmClient.warmUp(clientProperties(), untilMs);
    assertTrue(System.currentTimeMillis() >= untilMs);
    WarmClient.warmUp(clientProperties(), System.currentTimeMillis() - 5_000);
  }

  @Test
  void sharedObjectsAreStillOpenAtTheStartOfTheTrial() throws Exception {
    WarmClient.warmUp(clientProperties(), System.currentTimeMillis() + 100);
    assertEquals(1, OPEN.get());
  }

  private Properties clientProperties() {
    Properties properties = new Properties();
    properties.setProperty(Client.DB_PROPERTY, Counting.class.getName());
    properties.setProperty(Client.WORKLOAD_PROPERTY, CoreWorkload.class.getName());
    properties.setProperty(Client.THREAD_COUNT_PROPERTY, "2");
    properties.setProperty(Client.RECORD_COUNT_PROPERTY, "100");
    properties.setProperty(Client.OPERATION_COUNT_PROPERTY, "10");
    properties.setProperty("readproportion", "0.5");
    properties.setProperty("updateproportion", "0.0");
    properties.setProperty("insertproportion", "0.5");
    properties.setProperty("measurementtype", "hdrhistogram");
    properties.setProperty("hdrhistogram.fileoutput", "true");
    properties.setProperty("hdrhistogram.output.path", folder.resolve("log-").toString());
    return properties;
  }

  /** Answers at once, and counts. */
  public static final class Counting extends DB {
    @Override
    public void init() {
      OPEN.incrementAndGet();
    }

    @Override
    public void cleanup() {
      OPEN.decrementAndGet();
    }

    @Override
    public Status read(
        String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
      READS.incrementAndGet();
      return Status.OK;
    }

    @Override
    public Status scan(
        String table,
        String key,
        int rows,
        Set<String> fields,
        java.util.Vector<java.util.HashMap<String, ByteIterator>> result) {
      return Status.NOT_IMPLEMENTED;
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
      UPDATES.incrementAndGet();
      return Status.OK;
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
      INSERTS.incrementAndGet();
      return Status.OK;
    }

    @Override
    public Status delete(String table, String key) {
      return Status.NOT_IMPLEMENTED;
    }
  }
}
