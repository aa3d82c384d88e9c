package org.densitystudy.table;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hadoop.hbase.ServerName;

/** reload: every RegionServer reads its hbase-site.xml again, for the properties that can change. */
record Reload() implements Task {
  record Reloaded(List<String> servers) {}

  static Task parse(Arguments unused) {
    return new Reload();
  }

  @Override
  public Reloaded run(Session session) throws IOException {
    List<ServerName> servers =
        Session.liveServers(session.admin()).stream().map(ServerMetrics::getServerName).toList();
    for (ServerName server : servers) {
      session.admin().updateConfiguration(server);
    }
    return new Reloaded(servers.stream().map(ServerName::getServerName).toList());
  }
}
