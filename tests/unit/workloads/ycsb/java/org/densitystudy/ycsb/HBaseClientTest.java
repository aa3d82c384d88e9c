package org.densitystudy.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.RetriesExhaustedException;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

class HBaseClientTest {
  private static final String TABLE = "usertable";

  private final ByteArrayOutputStream log = new ByteArrayOutputStream();
  private final Failures failures = new Failures(new PrintStream(log, true));
  private final List<Object> requests = new ArrayList<>();

  @Test
  void readReturnsEveryFieldAndOk() throws DBException {
    Map<String, ByteIterator> row = new HashMap<>();
    Status status = answering(row("user1", "a", "1", "b", "22")).read(TABLE, "user1", null, row);
    assertEquals(Status.OK, status);
    assertEquals(Map.of("a", "1", "b", "22"), StringByteIterator.getStringMap(row));
    assertEquals(Set.of("f"), families((Get) requests.get(0)));
  }

  @Test
  void readRequestsOnlyTheNamedFields() throws DBException {
    answering(row("user1", "b", "2")).read(TABLE, "user1", Set.of("b"), new HashMap<>());
    var columns = ((Get) requests.get(0)).getFamilyMap().get(Bytes.toBytes("f"));
    assertEquals(1, columns.size());
    assertEquals("b", Bytes.toString(columns.first()));
  }

  @Test
  void readOfMissingRowIsNotFound() throws DBException {
    Map<String, ByteIterator> row = new HashMap<>();
    assertEquals(
        Status.NOT_FOUND, answering(Result.EMPTY_RESULT).read(TABLE, "user1", null, row));
    assertTrue(row.isEmpty());
  }

  @Test
  void scanIsOneRoundTripLongAndKeepsOrder() throws DBException {
    var rows = new Vector<HashMap<String, ByteIterator>>();
    HBaseClient client = answering(List.of(row("user1", "a", "1"), row("user2", "a", "2")));
    assertEquals(Status.OK, client.scan(TABLE, "user1", 50, null, rows));
    assertEquals(List.of("1", "2"), rows.stream().map(r -> r.get("a").toString()).toList());
    Scan scan = (Scan) requests.get(0);
    assertEquals(50, scan.getLimit());
    assertEquals(50, scan.getCaching());
    assertEquals("user1", Bytes.toString(scan.getStartRow()));
  }

  @Test
  void insertPutsEveryFieldWithTheConfiguredDurability() throws DBException {
    HBaseClient client = answering(null, "durability", "SKIP_WAL");
    Map<String, ByteIterator> values = StringByteIterator.getByteIteratorMap(Map.of("a", "1"));
    assertEquals(Status.OK, client.insert(TABLE, "user1", values));
    Put put = (Put) requests.get(0);
    assertEquals(Durability.SKIP_WAL, put.getDurability());
    assertTrue(put.has(Bytes.toBytes("f"), Bytes.toBytes("a"), Bytes.toBytes("1")));
  }

  @Test
  void insertsOfABatchAreSentTogetherAndTheRestByCleanUp() throws DBException {
    HBaseClient client = answering(null, "inserts.batch", "2");
    Map<String, ByteIterator> values = StringByteIterator.getByteIteratorMap(Map.of("a", "1"));
    assertEquals(Status.OK, client.insert(TABLE, "user1", values));
    assertTrue(requests.isEmpty());
    assertEquals(Status.OK, client.insert(TABLE, "user2", values));
    assertEquals(2, ((List<?>) requests.get(0)).size());
    client.insert(TABLE, "user3", values);
    assertEquals(1, requests.size());
    client.flush();
    assertEquals(1, ((List<?>) requests.get(1)).size());
  }

  @Test
  void aFailedBatchIsAnErrorAndCounted() throws DBException {
    HBaseClient client =
        answering(new RetriesExhaustedException("gone", new IOException("refused")),
            "inserts.batch", "2");
    Map<String, ByteIterator> values = StringByteIterator.getByteIteratorMap(Map.of("a", "1"));
    assertEquals(Status.OK, client.insert(TABLE, "user1", values));
    assertEquals(Status.ERROR, client.insert(TABLE, "user2", values));
    client.insert(TABLE, "user3", values);
    client.flush();
    failures.report();
    assertTrue(log.toString().contains("hbase-client: 2 x INSERT"), log.toString());
  }

  @Test
  void deleteTakesTheWholeRow() throws DBException {
    assertEquals(Status.OK, answering(null).delete(TABLE, "user1"));
    assertTrue(((Delete) requests.get(0)).getFamilyCellMap().isEmpty());
  }

  @Test
  void everyOperationReturnsErrorForAnExceptionAndCountsIt() throws DBException {
    HBaseClient client =
        answering(new RetriesExhaustedException("gone", new IOException("refused")));
    Map<String, ByteIterator> values = StringByteIterator.getByteIteratorMap(Map.of("a", "1"));
    for (int i = 0; i < 2; i++) {
      assertEquals(Status.ERROR, client.read(TABLE, "k", null, new HashMap<>()));
      assertEquals(Status.ERROR, client.scan(TABLE, "k", 1, null, new Vector<>()));
      assertEquals(Status.ERROR, client.update(TABLE, "k", values));
      assertEquals(Status.ERROR, client.insert(TABLE, "k", values));
      assertEquals(Status.ERROR, client.delete(TABLE, "k"));
    }
    failures.report();
    for (String operation : List.of("READ", "SCAN", "UPDATE", "INSERT", "DELETE")) {
      String kind = operation + " " + RetriesExhaustedException.class.getName();
      assertEquals(1, occurrences("hbase-client: first " + kind), "reported once: " + operation);
      assertEquals(1, occurrences("hbase-client: 2 x " + kind), "counted: " + operation);
    }
    assertTrue(log.toString().contains("<- java.io.IOException"), "the root cause is named");
  }

  private int occurrences(String text) {
    return log.toString().split(text, -1).length - 1;
  }

  /** A client whose table gives one answer to all requests; an exception becomes a failed future. */
  private HBaseClient answering(Object answer, String... more) throws DBException {
    AsyncTable<?> table =
        (AsyncTable<?>)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {AsyncTable.class},
                (proxy, method, arguments) -> {
                  requests.add(arguments[0]);
                  return answer instanceof Exception failure
                      ? CompletableFuture.failedFuture(failure)
                      : CompletableFuture.completedFuture(answer);
                });
    Properties properties = new Properties();
    properties.setProperty("columnfamily", "f");
    for (int i = 0; i < more.length; i += 2) {
      properties.setProperty(more[i], more[i + 1]);
    }
    return new HBaseClient(ClientOptions.of(properties), table, failures);
  }

  private static Set<String> families(Get get) {
    return Set.of(get.familySet().stream().map(Bytes::toString).toArray(String[]::new));
  }

  private static Result row(String key, String... fields) {
    List<Cell> cells = new ArrayList<>();
    for (int i = 0; i < fields.length; i += 2) {
      cells.add(
          new KeyValue(
              Bytes.toBytes(key),
              Bytes.toBytes("f"),
              Bytes.toBytes(fields[i]),
              Bytes.toBytes(fields[i + 1])));
    }
    return Result.create(cells);
  }
}
