package org.densitystudy.variants;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Map;
import java.util.Properties;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;
import site.ycsb.measurements.exporter.TextMeasurementsExporter;

class VariantWorkloadTest {
  private static final int SAMPLES = 12;
  private static final int SITES = 500;
  private final SortedDb db = new SortedDb();

  private int before;

  /** YCSB has one Measurements per JVM: a test checks its own additions. */
  @BeforeEach
  void countFromHere() throws IOException {
    Measurements.setProperties(new Properties());
    before = reportedErrors();
  }

  @Test
  void aLoadWritesOneRowPerSampleAndSite() throws Exception {
    load();
    assertEquals(SAMPLES * SITES, db.rows.size());
    VariantRows rows = new VariantRows(Genome.of(SITES, 9), 9);
    assertEquals(rows.values(123, 4), db.rows.get(rows.key(123, 4)));
  }

  @Test
  void clientsDivideALoadWithoutRemainder() throws Exception {
    insert(workload("insertstart", "0"), 2_500);
    insert(workload("insertstart", "2500"), SAMPLES * SITES - 2_500);
    assertEquals(SAMPLES * SITES, db.rows.size());
  }

  @Test
  void successiveKeysAreFarApart() throws Exception {
    VariantWorkload workload = workload();
    long[] sites = LongStream.range(0, 100).map(n -> workload.rowAt(n) / SAMPLES).toArray();
    for (int i = 1; i < sites.length; i++) {
      assertTrue(Math.abs(sites[i] - sites[i - 1]) > SITES / 5);
    }
  }

  @Test
  void aRegionScanReturnsTheRowsOfAllSamples() throws Exception {
    load();
    run(workload("scanproportion", "1"), 400);
    assertEquals(400, db.scanned.size());
    assertTrue(db.scanned.stream().allMatch(rows -> rows > 0 && rows % SAMPLES == 0));
    assertTrue(db.scanned.stream().distinct().count() > 5);
    assertEquals(0, reportedErrors() - before);
  }

  @Test
  void aSampleReadFindsItsRow() throws Exception {
    load();
    run(workload("readproportion", "1"), 1_000);
    assertEquals(1_000, db.reads);
    assertEquals(0, reportedErrors() - before);
  }

  @Test
  void aMixFollowsItsProportions() throws Exception {
    load();
    run(workload("scanproportion", "0.3", "readproportion", "0.7"), 2_000);
    assertEquals(600, db.scanned.size(), 100);
    assertEquals(2_000, db.scanned.size() + db.reads);
  }

  @Test
  void aChangedRowIsReported() throws Exception {
    load();
    db.rows.replaceAll((key, row) -> Map.of("v", "A\tT"));
    run(workload("readproportion", "1"), 50);
    assertEquals(50, reportedErrors() - before);
  }

  @Test
  void aRegionWithAMissingRowIsReported() throws Exception {
    load();
    db.rows.keySet().removeIf(key -> key.endsWith(":000005"));
    run(workload("scanproportion", "1"), 50);
    assertEquals(50, reportedErrors() - before);
  }

  @Test
  void theSeedDeterminesAThreadsQueriesAndClientsDiffer() throws Exception {
    load();
    assertEquals(scansOf(workload("scanproportion", "1")), scansOf(workload("scanproportion", "1")));
    assertNotEquals(
        scansOf(workload("scanproportion", "1")),
        scansOf(workload("scanproportion", "1", "client.number", "1")));
  }

  @Test
  void optionsThatDoNotFitAreRefused() {
    assertThrows(WorkloadException.class, () -> workload("recordcount", "77"));
    assertThrows(WorkloadException.class, () -> workload("variants.samples", "0"));
    assertThrows(WorkloadException.class, () -> workload("variants.sites", "3"));
    assertThrows(WorkloadException.class, () -> workload("variants.seed", ""));
    assertThrows(WorkloadException.class, () -> workload("insertproportion", "0.5"));
    assertThrows(WorkloadException.class, () -> workload("requestdistribution", "latest"));
  }

  private String scansOf(VariantWorkload workload) {
    db.scanned.clear();
    run(workload, 40);
    return db.scanned.toString();
  }

  private void load() throws WorkloadException {
    insert(workload(), SAMPLES * SITES);
  }

  private void insert(VariantWorkload workload, int rows) {
    for (int i = 0; i < rows; i++) {
      assertTrue(workload.doInsert(db, null));
    }
  }

  private void run(VariantWorkload workload, int operations) {
    Object thread = workload.initThread(new Properties(), 0, 1);
    for (int i = 0; i < operations; i++) {
      assertTrue(workload.doTransaction(db, thread));
    }
  }

  /** Number of rows reported as changed, so far. */
  private static int reportedErrors() throws IOException {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    try (TextMeasurementsExporter exporter = new TextMeasurementsExporter(text)) {
      Measurements.getMeasurements().exportMeasurements(exporter);
    }
    String told = "[VERIFY], Return=UNEXPECTED_STATE, ";
    return text.toString()
        .lines()
        .filter(line -> line.startsWith(told))
        .mapToInt(line -> Integer.parseInt(line.substring(told.length())))
        .sum();
  }

  private static VariantWorkload workload(String... more) throws WorkloadException {
    Properties properties = new Properties();
    properties.setProperty("recordcount", Integer.toString(SAMPLES * SITES));
    properties.setProperty("variants.samples", Integer.toString(SAMPLES));
    properties.setProperty("variants.sites", Integer.toString(SITES));
    properties.setProperty("variants.seed", "9");
    properties.setProperty("variants.regions", "200");
    properties.setProperty("variants.region.sites", "5");
    properties.setProperty("insertproportion", more.length == 0 ? "1" : "0");
    for (int i = 0; i < more.length; i += 2) {
      properties.setProperty(more[i], more[i + 1]);
    }
    if (more.length > 0 && more[0].equals("insertstart")) {
      properties.setProperty("insertproportion", "1");
    }
    VariantWorkload workload = new VariantWorkload();
    workload.init(properties);
    return workload;
  }
}
