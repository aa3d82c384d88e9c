package org.densitystudy.stores.aerospike;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.aerospike.client.AerospikeException;
import com.aerospike.client.policy.ClientPolicy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.Vector;
import org.densitystudy.stores.StoreTool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/** The public client against {@link WireServer}: what is sent, and what becomes of answers. No Aerospike ran here. */
class AerospikeTest {
  private static final int UPDATE_WITH_ALL_REPLICAS = 0; // flags of a write that merges bins, and commits everywhere
  private static final int DURABLE_DELETE = 16;
  private static final int KEY_BUSY = 14;
  private static final int DEVICE_OVERLOAD = 18;
  private static final String TABLE = "usertable_9";

  @TempDir Path folder;
  private WireServer server;
  private Properties properties;
  private AerospikeRows rows;

  @BeforeEach
  void open() throws Exception {
    server = new WireServer();
    properties = new Properties();
    properties.setProperty("admin", AerospikeEndpoint.class.getName());
    properties.setProperty("endpoint", server.address());
    properties.setProperty("db", AerospikeRows.class.getName());
    properties.setProperty("aerospike.hosts", server.address());
    properties.setProperty("aerospike.namespace", WireServer.NAMESPACE);
    properties.setProperty("aerospike.set", "study");
    rows = new AerospikeRows();
    rows.setProperties(properties);
    rows.init();
  }

  @AfterEach
  void close() throws Exception {
    rows.cleanup();
    server.close();
  }

  private AerospikeEndpoint endpoint() throws Exception {
    return (AerospikeEndpoint) StoreTool.admin(properties);
  }

  private static Map<String, ByteIterator> fields(String... pairs) {
    Map<String, ByteIterator> fields = new HashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      fields.put(pairs[i], new StringByteIterator(pairs[i + 1]));
    }
    return fields;
  }

  private Map<String, String> read(String key, Set<String> wanted) {
    Map<String, ByteIterator> found = new HashMap<>();
    assertEquals(Status.OK, rows.read(TABLE, key, wanted, found));
    Map<String, String> texts = new TreeMap<>();
    found.forEach((field, value) -> texts.put(field, value.toString()));
    return texts;
  }

  @Test
  void anUpdateChangesItsFieldsAndLeavesTheOthers() {
    assertEquals(Status.OK, rows.insert(TABLE, "user1", fields("a", "1", "b", "2")));
    assertEquals(Status.OK, rows.update(TABLE, "user1", fields("b", "3")));
    assertEquals(Map.of("a", "1", "b", "3"), read("user1", null));
    assertEquals(Map.of("b", "3"), read("user1", Set.of("b")));
    assertEquals(Map.of(), read("user1", Set.of("c"))); // the row is there, without that field
    assertEquals(Status.OK, rows.update(TABLE, "user2", fields("b", "3")));
    assertEquals(Map.of("b", "3"), read("user2", null));
    assertEquals(Set.of("study-rows"), server.sets.keySet());
  }

  @Test
  void writesWaitForAllReplicasAndNeverExpire() {
    rows.insert(TABLE, "user1", fields("a", "1"));
    rows.update(TABLE, "user1", fields("a", "2"));
    assertEquals(2, server.asked.size());
    for (WireServer.Asked one : server.asked) {
      assertEquals(UPDATE_WITH_ALL_REPLICAS, one.info());
      assertEquals(-1, one.expiration());
    }
  }

  @Test
  void aMissingRowIsNotFoundAndItsDeleteSucceeds() {
    assertEquals(Status.NOT_FOUND, rows.read(TABLE, "user1", null, new HashMap<>()));
    assertEquals(Status.OK, rows.delete(TABLE, "user1"));
    rows.insert(TABLE, "user1", fields("a", "1"));
    assertEquals(Status.OK, rows.delete(TABLE, "user1"));
    assertEquals(Status.NOT_FOUND, rows.read(TABLE, "user1", null, new HashMap<>()));
  }

  @Test
  void aFailureIsAnErrorAndIsNotRepeated() {
    server.failing = KEY_BUSY;
    assertEquals(Status.ERROR, rows.read(TABLE, "user1", null, new HashMap<>()));
    assertEquals(Status.ERROR, rows.insert(TABLE, "user1", fields("a", "1")));
    assertEquals(Status.ERROR, rows.update(TABLE, "user1", fields("a", "1")));
    assertEquals(Status.ERROR, rows.delete(TABLE, "user1"));
    assertEquals(4, server.asked.size());
    server.failing = 0;
    server.cutting = true;
    assertEquals(Status.ERROR, rows.read(TABLE, "user1", null, new HashMap<>()));
    assertEquals(Status.ERROR, rows.insert(TABLE, "user1", fields("a", "1")));
    assertEquals(6, server.asked.size());
    server.cutting = false;
    assertEquals(Status.OK, rows.insert(TABLE, "user1", fields("a", "1")));
  }

  @Test
  void everyRequestIsSentAlthoughManyFailed() {
    server.failing = DEVICE_OVERLOAD; // a result after which clients may hold back
    for (int i = 0; i < 300; i++) {
      assertEquals(Status.ERROR, rows.read(TABLE, "user" + i, null, new HashMap<>()));
    }
    assertEquals(300, server.asked.size());
  }

  @Test
  void aScanIsRefused() {
    assertEquals(Status.NOT_IMPLEMENTED, rows.scan(TABLE, "user1", 3, null, new Vector<>()));
  }

  @Test
  void threadsShareOneClientWithAConnectionForEach() throws Exception {
    AerospikeConnection one = AerospikeConnection.SHARED.acquire(properties);
    assertSame(one, AerospikeConnection.SHARED.acquire(properties));
    AerospikeConnection.SHARED.release();
    AerospikeConnection.SHARED.release();
    properties.setProperty("threadcount", "200");
    assertTrue(AerospikeConnection.options(properties).maxConnsPerNode > 200);
  }

  @Test
  void thePasswordIsReadFromItsFile() throws Exception {
    Path file = folder.resolve("password");
    Files.writeString(file, "secret\n");
    properties.setProperty("store.user", "bench");
    properties.setProperty("store.password.file", file.toString());
    ClientPolicy options = AerospikeConnection.options(properties);
    assertEquals(List.of("bench", "secret"), List.of(options.user, options.password));
  }

  @Test
  void deletesAreDurableWhereTheServerHasThem() throws Exception {
    rows.delete(TABLE, "user1");
    assertEquals(DURABLE_DELETE, server.asked.get(0).write() & DURABLE_DELETE);
    server.answers.put("edition", "Aerospike Community Edition");
    AerospikeConnection community = new AerospikeConnection(properties);
    assertFalse(community.delete.durableDelete);
    community.client.close();
  }

  @Test
  void theToolChecksTheBindingAndLeavesNothing() throws Exception {
    StoreTool.check(properties, TABLE);
    assertTrue(server.set("study-rows").isEmpty());
  }

  @Test
  void aNamespaceIsClaimedCountedEmptiedAndReleased() throws Exception {
    server.set("of-others").put("00", Map.of());
    try (AerospikeEndpoint endpoint = endpoint()) {
      assertEquals(Map.of(), endpoint.owner());
      endpoint.claim("s/r/b1");
      assertEquals(Map.of("tag", "s/r/b1"), endpoint.owner());
      assertThrows(IllegalStateException.class, () -> endpoint.claim("s/r/b2"));
      for (int i = 0; i < 50; i++) {
        rows.insert(TABLE, "user" + i, fields("a", "1"));
      }
      Map<String, Object> state = endpoint.state(TABLE);
      assertEquals(50L, state.get("rows"));
      assertEquals(7L, state.get("background_runs"));
      assertEquals("BB9020011AC4202@8AF422E0528124", state.get("servers"));
      endpoint.release("s/other/b1");
      assertEquals(50, server.set("study-rows").size());
      endpoint.empty(TABLE);
      assertEquals(0L, endpoint.state(TABLE).get("rows"));
      rows.insert(TABLE, "user1", fields("a", "1"));
      endpoint.release("s/r/b1");
      assertEquals(Map.of(), endpoint.owner());
    }
    String truncate = "truncate:namespace=test;set=study-rows";
    assertEquals(List.of(truncate, truncate), server.truncated);
    assertEquals(1, server.set("of-others").size());
    assertTrue(server.set("study-rows").isEmpty() && server.set("study-owner").isEmpty());
  }

  @Test
  void recordsWithoutATagAreOfOthers() throws Exception {
    rows.insert(TABLE, "user1", fields("a", "1"));
    try (AerospikeEndpoint endpoint = endpoint()) {
      assertEquals(Map.of("tag", "another: records in set study-rows"), endpoint.owner());
      endpoint.release("s/r/b1");
    }
    assertEquals(1, server.set("study-rows").size());
  }

  @Test
  void factsAreWhatTheNodesSay() throws Exception {
    try (AerospikeEndpoint endpoint = endpoint()) {
      Map<String, Object> facts = endpoint.facts();
      assertEquals("Aerospike Enterprise Edition 8.1.0.3", facts.get("version"));
      assertEquals("false", facts.get("commit-to-device"));
      assertEquals("off", facts.get("write-commit-level-override"));
      assertEquals(400L, facts.get("free_bytes")); // half of 1000, where eviction begins, less 100
    }
  }

  @Test
  void whatCannotBeUsedIsRefused() throws Exception {
    try (AerospikeEndpoint endpoint = endpoint()) {
      server.answers.put("build", "6.4.0.30");
      assertTrue(refused(endpoint).contains("7.0 or later is needed"));
      server.answers.put("build", "8.1.0.3");
      server.show("ns_cluster_size=3;stop_writes=false");
      assertTrue(refused(endpoint).contains("1 of 3 nodes are reached"));
      server.show("ns_cluster_size=1;stop_writes=true");
      assertTrue(refused(endpoint).contains("refuses writes"));
      server.answers.put("namespace/test", "type=unknown");
      assertTrue(refused(endpoint).contains("has no namespace test"));
      server.answers.put("namespace/test", "ERROR:81:role violation");
      assertTrue(refused(endpoint).contains("role violation"));
      server.failing = KEY_BUSY;
      assertThrows(AerospikeException.class, endpoint::owner);
    }
  }

  private static String refused(AerospikeEndpoint endpoint) {
    return assertThrows(DBException.class, endpoint::facts).getMessage();
  }

  @Test
  void settingsOfNodesThatDifferAreBothShown() {
    Map<String, String> one = AerospikeEndpoint.pairs("storage-engine.commit-to-device=true;a=b=c", ";");
    assertEquals("b=c", one.get("a"));
    Map<String, String> other = AerospikeEndpoint.pairs("storage-engine.commit-to-device=false", ";");
    Map<String, String> settings = AerospikeEndpoint.settings(List.of(one, other, one));
    assertEquals("false and true", settings.get("commit-to-device"));
    assertEquals("unknown", settings.get("strong-consistency"));
  }

  @Test
  void aServerThatIsNotThereIsToldWithItsAddress() throws Exception {
    Properties nowhere = new Properties();
    nowhere.putAll(properties);
    nowhere.setProperty("aerospike.hosts", "127.0.0.1:1");
    String said = assertThrows(DBException.class, () -> new AerospikeConnection(nowhere)).getMessage();
    assertTrue(said.contains("cannot use Aerospike at 127.0.0.1:1"), said);
  }
}
