package org.densitystudy.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.measurements.Measurements;

class InsertLogTest {
  @TempDir private Path folder;

  @Test
  void onlyAcknowledgedInsertsAreLogged() throws Exception {
    StudyWorkload workload = workload();
    for (int number = 1_000; number < 1_010; number++) {
      String key = workload.buildKeyName(number);
      if (number != 1_003 && number != 1_007) {
        InsertLog.acknowledged(key);
      }
    }
    workload.buildKeyName(5); // a read
    workload.cleanup();
    // of client 1 of 2
    assertEquals(
        List.of("1001 1005 2", "1009 1013 2", "1017 1019 2"),
        Files.readAllLines(folder.resolve("inserts")));
  }

  @Test
  void anInsertWithoutANumberIsAnError() throws Exception {
    StudyWorkload workload = workload();
    workload.buildKeyName(1_000);
    assertThrows(IllegalStateException.class, () -> InsertLog.acknowledged("user1"));
    String loaded = workload.buildKeyName(3);
    assertThrows(IllegalStateException.class, () -> InsertLog.acknowledged(loaded));
    workload.cleanup();
    InsertLog.acknowledged("user1"); // nobody logs any more
    assertEquals("", Files.readString(folder.resolve("inserts")));
  }

  private StudyWorkload workload() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("recordcount", "1000");
    properties.setProperty("operationcount", "1000");
    properties.setProperty("client.number", "1");
    properties.setProperty("client.count", "2");
    properties.setProperty("inserts.log", folder.resolve("inserts").toString());
    Measurements.setProperties(properties);
    StudyWorkload workload = new StudyWorkload();
    workload.init(properties);
    return workload;
  }
}
