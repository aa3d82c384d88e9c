package org.densitystudy.stores.rocksdb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.stream.Collectors;
import org.densitystudy.stores.Admin;
import org.densitystudy.stores.StoreTool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/** A real database in a folder of the test's own. */
class RocksDbClientTest {
  private static final String TABLE = "usertable";

  @TempDir Path folder;

  private Properties properties(String durability) {
    Properties properties = new Properties();
    properties.setProperty("rocksdb.path", folder.resolve("db").toString());
    properties.setProperty("rocksdb.cache.mib", "8");
    properties.setProperty("rocksdb.buffers.mib", "2");
    properties.setProperty("durability", durability);
    return properties;
  }

  private RocksDbClient client(String durability) throws DBException {
    RocksDbClient client = new RocksDbClient();
    client.setProperties(properties(durability));
    client.init();
    return client;
  }

  private static Map<String, ByteIterator> values(String... pairs) {
    Map<String, ByteIterator> values = new HashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      values.put(pairs[i], new StringByteIterator(pairs[i + 1]));
    }
    return values;
  }

  private static Map<String, String> texts(Map<String, ByteIterator> row) {
    return row.entrySet().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, one -> one.getValue().toString()));
  }

  @Test
  void anUpdateKeepsTheOtherFields() throws DBException {
    RocksDbClient client = client("page_cache");
    assertEquals(Status.OK, client.insert(TABLE, "user1", values("a", "1", "b", "2")));
    assertEquals(Status.OK, client.update(TABLE, "user1", values("b", "3")));
    Map<String, ByteIterator> row = new HashMap<>();
    assertEquals(Status.OK, client.read(TABLE, "user1", null, row));
    assertEquals(Map.of("a", "1", "b", "3"), texts(row));
    Map<String, ByteIterator> some = new HashMap<>();
    client.read(TABLE, "user1", Set.of("b"), some);
    assertEquals(Map.of("b", "3"), texts(some));
    client.cleanup();
  }

  @Test
  void aMissingRowIsNotFoundAndARowThatBeginsAlikeIsAnother() throws DBException {
    RocksDbClient client = client("page_cache");
    client.insert(TABLE, "user12", values("a", "1"));
    assertEquals(Status.NOT_FOUND, client.read(TABLE, "user1", null, new HashMap<>()));
    client.insert(TABLE, "user1", values("a", "2"));
    assertEquals(Status.OK, client.delete(TABLE, "user1"));
    assertEquals(Status.NOT_FOUND, client.read(TABLE, "user1", null, new HashMap<>()));
    assertEquals(Status.OK, client.read(TABLE, "user12", null, new HashMap<>()));
    client.cleanup();
  }

  @Test
  void aScanIsInOrderOfKeysAndEndsAfterItsRows() throws DBException {
    RocksDbClient client = client("page_cache");
    for (String key : List.of("user3", "user1", "user20", "user2")) {
      client.insert(TABLE, key, values("k", key, "z", "-"));
    }
    Vector<HashMap<String, ByteIterator>> rows = new Vector<>();
    assertEquals(Status.OK, client.scan(TABLE, "user2", 2, null, rows));
    assertEquals(
        List.of("user2", "user20"), rows.stream().map(row -> row.get("k").toString()).toList());
    rows.clear();
    assertEquals(Status.OK, client.scan(TABLE, "user2", 9, null, rows));
    assertEquals(3, rows.size());
    assertEquals(2, rows.get(2).size());
    client.cleanup();
  }

  @Test
  void rowsWithoutALogAreThereAfterAnOrderlyEnd() throws DBException {
    RocksDbClient client = client("memory");
    client.insert(TABLE, "user1", values("a", "1"));
    client.cleanup();
    RocksDbClient again = client("memory");
    assertEquals(Status.OK, again.read(TABLE, "user1", null, new HashMap<>()));
    again.cleanup();
  }

  @Test
  void aLevelIsOneOfThree() {
    assertThrows(DBException.class, () -> client("maybe"));
  }

  @Test
  void theToolCountsRowsAndCompactionsAndEmptiesTheFolder() throws Exception {
    RocksDbClient client = client("page_cache");
    for (int round = 0; round < 8; round++) {
      for (int key = 0; key < 1000; key++) {
        client.insert(TABLE, "user" + key, values("a", "x".repeat(1000) + round));
      }
    }
    client.cleanup();
    try (Admin admin = new RocksDbAdmin(properties("page_cache"))) {
      admin.settle(TABLE);
      Map<String, Object> state = admin.state(TABLE);
      assertEquals(1000L, state.get("rows"));
      assertTrue((long) state.get("background_runs") > 0, state.toString());
      assertEquals(0L, state.get("files_level_0"));
      admin.empty(TABLE);
      assertEquals(0L, admin.state(TABLE).get("rows"));
    }
  }

  @Test
  void theToolChecksARowByTheBinding() throws Exception {
    Properties properties = properties("synced");
    properties.setProperty("db", RocksDbClient.class.getName());
    StoreTool.check(properties, TABLE);
  }
}
