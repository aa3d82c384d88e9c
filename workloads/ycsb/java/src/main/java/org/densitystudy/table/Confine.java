package org.densitystudy.table;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.RegionInfo;

/**
 * confine --table T --info HOST:PORT[,HOST:PORT...]: move the regions of T to these RegionServers,
 * round robin, and return when all have arrived. A server is named by the address of its web page.
 */
record Confine(TableName table, List<String> info) implements Task {
  record Confined(String table, int regions, int moved, List<String> servers) {}

  static Task parse(Arguments arguments) {
    List<String> info = Arrays.asList(arguments.option("info").split(",", -1));
    if (info.stream().anyMatch(address -> !address.matches("[^:]+:\\d+"))) {
      throw arguments.wrong("--info takes HOST:PORT[,HOST:PORT...]");
    }
    return new Confine(arguments.table(), info);
  }

  @Override
  public Confined run(Session session) throws IOException {
    Admin admin = session.admin();
    List<ServerName> servers = named(admin);
    List<RegionInfo> regions = admin.getRegions(table);
    int moved = 0;
    for (int i = 0; i < regions.size(); i++) {
      moved += move(admin, regions.get(i), servers.get(i % servers.size()));
    }
    List<String> names = servers.stream().map(ServerName::getServerName).toList();
    return new Confined(table.getNameAsString(), regions.size(), moved, names);
  }

  private List<ServerName> named(Admin admin) throws IOException {
    List<ServerMetrics> live = Session.liveServers(admin);
    List<String> addresses = live.stream().map(Confine::address).toList();
    if (!addresses.containsAll(info)) {
      throw new IOException("no live RegionServer at one of " + info + "; there are " + addresses);
    }
    return live.stream()
        .filter(server -> info.contains(address(server)))
        .map(ServerMetrics::getServerName)
        .toList();
  }

  private static String address(ServerMetrics server) {
    return server.getServerName().getHostname() + ":" + server.getInfoServerPort();
  }

  /** 1 if the region was moved, 0 if it was there. Returns when the move is done. */
  private static int move(Admin admin, RegionInfo region, ServerName to) throws IOException {
    boolean there =
        admin.getRegions(to).stream()
            .anyMatch(held -> held.getEncodedName().equals(region.getEncodedName()));
    if (!there) {
      admin.move(region.getEncodedNameAsBytes(), to);
    }
    return there ? 0 : 1;
  }
}
