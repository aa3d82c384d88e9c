package org.densitystudy.table;

import java.io.Closeable;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.ClusterMetrics;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/** The connection that all commands of one command line share, opened on first use. */
final class Session implements Closeable {
  private final Configuration configuration;
  private Connection connection;
  private Admin admin;

  Session(Configuration configuration) {
    this.configuration = configuration;
  }

  /** From hbase-site.xml on the class path, with timeouts short enough for interactive use. */
  static Session fromClasspath() {
    Configuration configuration = HBaseConfiguration.create();
    // Admin calls poll for their result after 1, 2, 3, 5, 10, 20, 40, then every 100 and later every 200
    // pauses. With the default pause of 100 ms they often sleep for seconds after it is there. A failed call
    // is repeated at the same pace: 100 times take half a minute.
    configuration.setInt("hbase.client.pause", 2);
    configuration.setInt("hbase.client.retries.number", 100);
    configuration.setInt("hbase.client.operation.timeout", 120_000);
    return new Session(configuration);
  }

  Configuration configuration() {
    return configuration;
  }

  Connection connection() throws IOException {
    if (connection == null) {
      connection = ConnectionFactory.createConnection(configuration);
    }
    return connection;
  }

  Admin admin() throws IOException {
    if (admin == null) {
      admin = connection().getAdmin();
    }
    return admin;
  }

  /** The live RegionServers. */
  static List<ServerMetrics> liveServers(Admin admin) throws IOException {
    var metrics = admin.getClusterMetrics(EnumSet.of(ClusterMetrics.Option.LIVE_SERVERS));
    return List.copyOf(metrics.getLiveServerMetrics().values());
  }

  @Override
  public void close() throws IOException {
    if (admin != null) {
      admin.close();
    }
    if (connection != null) {
      connection.close();
    }
  }
}
