package org.densitystudy.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.hadoop.hbase.ClusterMetrics;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;

class PlacesTest {
  private static final TableName TABLE = TableName.valueOf("t");
  private static final ServerName A = ServerName.valueOf("a,1,5");
  private static final ServerName B = ServerName.valueOf("b,1,5");

  private final List<ServerName> live = new ArrayList<>(List.of(A, B));
  private final List<ServerName> at = new ArrayList<>();
  private final List<String> moves = Collections.synchronizedList(new ArrayList<>());

  @Test
  void regionsReturnToWhereTheyWere() throws Exception {
    at.addAll(List.of(A, B, B, A));
    Places before = Places.read(connection(), TABLE);
    assertEquals(new Places(List.of("a:1", "b:1"), List.of(0, 1, 1, 0)), before);
    Collections.reverse(at.subList(0, 2)); // as HBase enables a table: anywhere
    assertEquals(2, before.putBack(connection(), TABLE));
    assertEquals(List.of(A, B, B, A), at);
    assertEquals(0, before.putBack(connection(), TABLE), "all are there");
  }

  @Test
  void aServerThatRestartedIsTheSameOne() throws Exception {
    ServerName restarted = ServerName.valueOf("b,1,9");
    at.addAll(List.of(A, A));
    live.set(1, restarted);
    assertEquals(1, new Places(List.of("a:1", "b:1"), List.of(0, 1)).putBack(connection(), TABLE));
    assertEquals(List.of(A, restarted), at);
  }

  @Test
  void aRegionStaysIfItsServerIsGoneOrItWasNotOpen() throws Exception {
    at.addAll(List.of(A, A, A));
    live.remove(B);
    assertEquals(0, new Places(List.of("a:1", "b:1"), List.of(1, -1, 0)).putBack(connection(), TABLE));
    assertEquals(List.of(), moves);
  }

  @Test
  void aTableOfOtherRegionsStays() throws Exception {
    at.addAll(List.of(A, A, A));
    assertEquals(0, new Places(List.of("b:1"), List.of(0, 0)).putBack(connection(), TABLE));
    assertEquals(List.of(), moves);
  }

  @Test
  void whatATableAnsweredIsReadAgain() {
    List<String> words = List.of("restore", "--servers", "a:1,b:1", "--places", "0,-1,1");
    assertEquals(new Places(List.of("a:1", "b:1"), List.of(0, -1, 1)), Places.parse(new Arguments(words)));
    assertNull(Places.parse(new Arguments(List.of("restore"))));
    for (String wrong : List.of("2", "x", "", "-2", "0,,1")) {
      List<String> more = List.of("restore", "--servers", "a:1,b:1", "--places", wrong);
      assertThrows(IllegalArgumentException.class, () -> Places.parse(new Arguments(more)), wrong);
    }
  }

  private static RegionInfo region(int number) {
    byte[] key = number == 0 ? new byte[0] : Bytes.toBytes(number);
    return RegionInfoBuilder.newBuilder(TABLE).setStartKey(key).setRegionId(1).build();
  }

  private Connection connection() {
    return fake(
        Connection.class,
        (proxy, method, values) ->
            switch (method.getName()) {
              case "getRegionLocator" -> locator();
              case "getAdmin" -> admin();
              default -> throw new UnsupportedOperationException(method.getName());
            });
  }

  private RegionLocator locator() {
    return fake(
        RegionLocator.class,
        (proxy, method, values) ->
            switch (method.getName()) {
              case "getAllRegionLocations" ->
                  IntStream.range(0, at.size())
                      .mapToObj(i -> new HRegionLocation(region(i), at.get(i)))
                      .toList();
              default -> null;
            });
  }

  private Admin admin() {
    return fake(
        Admin.class,
        (proxy, method, values) ->
            switch (method.getName()) {
              case "getClusterMetrics" -> metrics();
              case "move" -> move(Bytes.toString((byte[]) values[0]), (ServerName) values[1]);
              default -> null;
            });
  }

  private synchronized Object move(String encoded, ServerName to) {
    moves.add(encoded);
    IntStream.range(0, at.size())
        .filter(i -> region(i).getEncodedName().equals(encoded))
        .forEach(i -> at.set(i, to));
    return null;
  }

  private ClusterMetrics metrics() {
    Map<ServerName, ServerMetrics> servers = new HashMap<>();
    for (ServerName name : live) {
      servers.put(name, fake(ServerMetrics.class, (proxy, method, values) -> name));
    }
    return fake(ClusterMetrics.class, (proxy, method, values) -> servers);
  }

  private static <T> T fake(Class<T> type, InvocationHandler answers) {
    Class<?>[] types = {type};
    return type.cast(Proxy.newProxyInstance(PlacesTest.class.getClassLoader(), types, answers));
  }
}
