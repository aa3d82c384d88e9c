package org.densitystudy.table;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hbase.ClusterMetrics;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;

/**
 * servers --namespace NAME: HBase's version, its live RegionServers, and the requests to all tables
 * outside the namespace and HBase's own. A server's name ends with the time of its start, so that a
 * restart shows.
 */
record Servers(String namespace) implements Task {
  /** {@code info}: address of its web page; null if it has none. */
  record Server(String name, String info) {}

  /** {@code otherRequests}: by region, since the region was opened. */
  record Answer(String version, List<Server> servers, Map<String, Long> otherRequests) {}

  static Task parse(Arguments arguments) {
    return new Servers(arguments.option("namespace"));
  }

  @Override
  public Answer run(Session session) throws IOException {
    ClusterMetrics metrics =
        session
            .admin()
            .getClusterMetrics(
                EnumSet.of(
                    ClusterMetrics.Option.HBASE_VERSION, ClusterMetrics.Option.LIVE_SERVERS));
    List<Server> servers = new ArrayList<>();
    Map<String, Long> others = new TreeMap<>();
    for (ServerMetrics server : metrics.getLiveServerMetrics().values()) {
      int port = server.getInfoServerPort();
      String host = server.getServerName().getHostname();
      String info = port > 0 ? host + ":" + port : null;
      servers.add(new Server(server.getServerName().getServerName(), info));
      for (RegionMetrics region : session.admin().getRegionMetrics(server.getServerName())) {
        TableName table = RegionInfo.getTable(region.getRegionName());
        if (isOfOthers(table)) {
          others.put(
              RegionInfo.encodeRegionName(region.getRegionName()),
              region.getReadRequestCount() + region.getWriteRequestCount());
        }
      }
    }
    return new Answer(metrics.getHBaseVersion(), servers, others);
  }

  private boolean isOfOthers(TableName table) {
    String name = table.getNamespaceAsString();
    return !name.equals(namespace) && !name.equals(NamespaceDescriptor.SYSTEM_NAMESPACE_NAME_STR);
  }
}
