package org.densitystudy.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Properties;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;

class StudyWorkloadTest {
  private static final int LOADED = 1_000;

  @Test
  void clientsShareTheLoadedRowsAndInsertDistinctRows() throws WorkloadException {
    Set<String> loaded = keys(workload(0, 3), 0, LOADED);
    Set<String> inserted = new HashSet<>();
    for (int client = 0; client < 3; client++) {
      assertEquals(loaded, keys(workload(client, 3), 0, LOADED));
      Set<String> own = keys(workload(client, 3), LOADED, LOADED + 500);
      assertEquals(500, own.size());
      assertTrue(own.stream().allMatch(inserted::add), "rows of another client are overwritten");
    }
    Set<String> alone = keys(workload(0, 1), LOADED, LOADED + 1_500);
    assertEquals(alone, inserted, "together they insert what one client would");
  }

  @Test
  void aClientNumberOutOfRangeIsRefused() {
    assertThrows(WorkloadException.class, () -> workload(3, 3));
    assertThrows(WorkloadException.class, () -> new StudyWorkload().init(new Properties()));
  }

  private static Set<String> keys(StudyWorkload workload, long from, long to) {
    Set<String> keys = new HashSet<>();
    LongStream.range(from, to).mapToObj(workload::buildKeyName).forEach(keys::add);
    return keys;
  }

  private static StudyWorkload workload(int client, int clients) throws WorkloadException {
    Properties properties = new Properties();
    properties.setProperty("recordcount", Integer.toString(LOADED));
    properties.setProperty("operationcount", "1000");
    properties.setProperty("client.number", Integer.toString(client));
    properties.setProperty("client.count", Integer.toString(clients));
    Measurements.setProperties(properties); // CoreWorkload's constructor reads them
    StudyWorkload workload = new StudyWorkload();
    workload.init(properties);
    return workload;
  }
}
