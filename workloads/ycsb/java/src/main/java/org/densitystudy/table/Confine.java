package org.densitystudy.table;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;

/**
 * confine --table T --info HOST:PORT[,HOST:PORT...]: move the regions of T to these RegionServers, round robin, and
 * return when all have arrived. A server is named by the address of its web page.
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
  public Confined run(Session session) throws Exception {
    List<ServerName> servers = named(session.admin());
    int regions = session.admin().getRegions(table).size();
    List<Integer> inTurn = IntStream.range(0, regions).map(i -> i % servers.size()).boxed().toList();
    int moved =
        new Places(servers.stream().map(Places::address).toList(), inTurn)
            .putBack(session.connection(), table);
    List<String> names = servers.stream().map(ServerName::getServerName).toList();
    return new Confined(table.getNameAsString(), regions, moved, names);
  }

  private List<ServerName> named(Admin admin) throws IOException {
    List<ServerMetrics> live = Session.liveServers(admin);
    List<String> pages = live.stream().map(Confine::page).toList();
    if (!pages.containsAll(info)) {
      throw new IOException("no live RegionServer at one of " + info + "; there are " + pages);
    }
    return live.stream()
        .filter(server -> info.contains(page(server)))
        .map(ServerMetrics::getServerName)
        .toList();
  }

  private static String page(ServerMetrics server) {
    return server.getServerName().getHostname() + ":" + server.getInfoServerPort();
  }
}
