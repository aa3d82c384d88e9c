package org.densitystudy.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.measurements.Measurements;
import site.ycsb.measurements.exporter.TextMeasurementsExporter;

class ThinkTimedTest {
  @Test
  void onlyTheTimeBetweenOperationsIsMeasured() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("measurementtype", "hdrhistogram");
    properties.setProperty("think.timed.db", StallingDb.class.getName());
    properties.setProperty("stall.ms", "40");
    properties.setProperty("stall.every.ms", "41"); // nearly every operation takes some 40 ms
    WarmClient.forget(); // another test's may write to a folder that is gone
    Measurements.setProperties(properties);
    ThinkTimed db = new ThinkTimed();
    db.setProperties(properties);
    db.init();
    for (int i = 0; i < 6; i++) {
      Map<String, ByteIterator> row = new HashMap<>();
      assertEquals(Status.OK, db.read("t", "k", null, row));
      Thread.sleep(5);
    }
    db.cleanup();
    String said = said();
    assertEquals(5, number(said, "Operations"), said);
    double mean = number(said, "AverageLatency\\(us\\)");
    assertTrue(mean >= 5_000 && mean < 25_000, said);
  }

  @Test
  void anUnknownDbClassIsRefused() {
    Properties properties = new Properties();
    properties.setProperty("think.timed.db", "java.lang.String");
    ThinkTimed db = new ThinkTimed();
    db.setProperties(properties);
    assertThrows(DBException.class, db::init);
  }

  private static String said() throws Exception {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    try (TextMeasurementsExporter exporter = new TextMeasurementsExporter(text)) {
      Measurements.getMeasurements().exportMeasurements(exporter);
    }
    return text.toString();
  }

  private static double number(String said, String measure) {
    Matcher found = Pattern.compile("\\[THINK\\], " + measure + ", ([0-9.]+)").matcher(said);
    assertTrue(found.find(), said);
    return Double.parseDouble(found.group(1));
  }
}
