package org.densitystudy.stores.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.NoNodeAvailableException;
import com.datastax.oss.driver.api.core.metadata.Node;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import org.densitystudy.stores.cassandra.CassandraStatement.Kind;
import org.densitystudy.stores.cassandra.CassandraStatement.Shape;
import org.junit.jupiter.api.Test;
import site.ycsb.Status;

class CassandraClientTest {
  private static final String TABLE = CassandraStatement.table("study", "usertable_9");

  private static String cql(Kind kind, String... fields) {
    return new Shape(kind, TABLE, Set.of(fields)).cql(List.of(fields));
  }

  @Test
  void eachStatementHasItsFieldsAndThenTheKey() {
    assertEquals(
        "SELECT * FROM \"study\".\"usertable_9\" WHERE key = ?", cql(Kind.SELECT));
    assertEquals(
        "SELECT \"a\", \"b\", key FROM \"study\".\"usertable_9\" WHERE key = ?",
        cql(Kind.SELECT, "a", "b"));
    assertEquals(
        "INSERT INTO \"study\".\"usertable_9\" (\"a\", \"b\", key) VALUES (?, ?, ?)",
        cql(Kind.INSERT, "a", "b"));
    assertEquals(
        "UPDATE \"study\".\"usertable_9\" SET \"a\" = ?, \"b\" = ? WHERE key = ?",
        cql(Kind.UPDATE, "a", "b"));
    assertEquals("DELETE FROM \"study\".\"usertable_9\" WHERE key = ?", cql(Kind.DELETE));
  }

  @Test
  void aTableHasAColumnForEachFieldAndIsNotCompressed() {
    assertEquals(
        "CREATE TABLE \"study\".\"t\" (key text PRIMARY KEY, \"field0\" blob, \"field1\" blob) WITH"
            + " compression = {'enabled': 'false'}",
        CassandraAdmin.tableOf("study", "t", 2));
  }

  @Test
  void everyReplicaAcknowledgesAWriteAndOneAnswersARead() {
    for (Kind kind : Kind.values()) {
      ConsistencyLevel wanted = kind == Kind.SELECT ? ConsistencyLevel.ONE : ConsistencyLevel.ALL;
      assertEquals(wanted, new Shape(kind, TABLE, Set.of("a")).level());
    }
  }

  @Test
  void aStatementIsFoundWhateverTheOrderOfItsFieldsAndAfterTheCallersSetChanged() {
    Map<String, String> values = new HashMap<>(Map.of("a", "1", "b", "2"));
    Shape kept = new Shape(Kind.INSERT, TABLE, values.keySet()).kept();
    values.clear();
    assertEquals(new Shape(Kind.INSERT, TABLE, Set.of("b", "a")), kept);
    assertEquals(new Shape(Kind.INSERT, TABLE, Set.of("b", "a")).hashCode(), kept.hashCode());
  }

  @Test
  void aScanIsRefused() {
    assertEquals(
        Status.NOT_IMPLEMENTED, new CassandraClient().scan("t", "k", 1, null, new Vector<>()));
  }

  @Test
  void theReasonOfAFailureIsThatOfANode() {
    Node node =
        (Node)
            Proxy.newProxyInstance(
                Node.class.getClassLoader(), new Class<?>[] {Node.class}, (proxy, method, given) ->
                    method.getName().equals("hashCode") ? 1 : null);
    Exception first = new java.io.IOException("cut");
    assertSame(
        first,
        CassandraSession.reason(
            AllNodesFailedException.fromErrors(List.of(Map.entry(node, first)))));
    for (var other : List.of(new NoNodeAvailableException(), new DriverTimeoutException("late"))) {
      assertSame(other, CassandraSession.reason(other));
    }
  }

  @Test
  void nodesOfOneAddressDifferByTheirPorts() {
    assertEquals(
        List.of(new InetSocketAddress("127.0.0.1", 1), new InetSocketAddress("127.0.0.1", 2)),
        CassandraSession.addresses("127.0.0.1:1,127.0.0.1:2"));
  }
}
