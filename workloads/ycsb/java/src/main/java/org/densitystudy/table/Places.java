package org.densitystudy.table;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RegionLocator;

/**
 * Where the regions of a table are: for each, in the order of keys, the index of its server, or -1 if it is not open. A
 * server is HOST:PORT, which a restart does not change.
 */
record Places(List<String> servers, List<Integer> regions) {
  private static final int AT_ONCE = 16;

  /** From --servers HOST:PORT,... and --places INDEX,...; null without them. */
  static Places parse(Arguments arguments) {
    if (!arguments.has("servers") && !arguments.has("places")) {
      return null;
    }
    List<String> servers = Arrays.asList(arguments.option("servers").split(",", -1));
    String[] places = arguments.option("places").split(",", -1);
    List<Integer> regions = new ArrayList<>();
    for (String place : places) {
      if (!place.matches("-1|\\d{1,6}") || Integer.parseInt(place) >= servers.size()) {
        throw arguments.wrong("--places takes indices of --servers or -1, not %s", place);
      }
      regions.add(Integer.parseInt(place));
    }
    return new Places(servers, regions);
  }

  static Places read(Connection connection, TableName table) throws IOException {
    List<String> servers = new ArrayList<>();
    List<Integer> regions = new ArrayList<>();
    for (HRegionLocation location : locations(connection, table)) {
      String server = location.getServerName() == null ? null : address(location.getServerName());
      if (server != null && !servers.contains(server)) {
        servers.add(server);
      }
      regions.add(servers.indexOf(server));
    }
    return new Places(servers, regions);
  }

  /**
   * Moves the table's regions to these places, and returns how many it moved when the last one is open. A region stays
   * if its server is no longer live, and all do if the table has another number of regions.
   */
  int putBack(Connection connection, TableName table) throws Exception {
    List<HRegionLocation> now = locations(connection, table);
    if (now.size() != regions.size()) {
      return 0;
    }
    Map<String, ServerName> live = live(connection);
    List<Callable<Void>> moves = new ArrayList<>();
    for (int i = 0; i < now.size(); i++) {
      ServerName to = regions.get(i) < 0 ? null : live.get(servers.get(regions.get(i)));
      if (to != null && !to.equals(now.get(i).getServerName())) {
        byte[] region = now.get(i).getRegion().getEncodedNameAsBytes();
        moves.add(() -> move(connection, region, to));
      }
    }
    allOf(moves);
    return moves.size();
  }

  private static Map<String, ServerName> live(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      return Session.liveServers(admin).stream()
          .map(server -> server.getServerName())
          .collect(Collectors.toMap(Places::address, Function.identity(), (one, other) -> other));
    }
  }

  private static void allOf(List<Callable<Void>> moves) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(AT_ONCE);
    try {
      for (Future<Void> move : pool.invokeAll(moves)) {
        move.get();
      }
    } catch (ExecutionException failure) {
      throw failure.getCause() instanceof Exception cause ? cause : failure;
    } finally {
      pool.shutdownNow();
    }
  }

  /** Returns when the region is open there. HBase's Admin is for one thread. */
  private static Void move(Connection connection, byte[] region, ServerName to) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      admin.move(region, to);
    }
    return null;
  }

  private static List<HRegionLocation> locations(Connection connection, TableName table) throws IOException {
    try (RegionLocator locator = connection.getRegionLocator(table)) {
      locator.clearRegionLocationCache();
      return locator.getAllRegionLocations();
    }
  }

  static String address(ServerName server) {
    return server.getHostname() + ":" + server.getPort();
  }
}
