package org.densitystudy.stores.accumulo;

import java.util.Properties;
import org.apache.accumulo.core.client.Accumulo;
import org.apache.accumulo.core.client.AccumuloClient;
import org.densitystudy.stores.Rows;
import org.densitystudy.stores.Shared;
import site.ycsb.DBException;

/**
 * One client of Accumulo per JVM, opened by the first thread and closed by the last: it knows where tablets are, and
 * pools connections. {@code -p accumulo.zookeepers=HOST:PORT -p accumulo.instance=NAME -p accumulo.password=...}
 */
final class AccumuloConnection {
  static final Shared<AccumuloClient> SHARED =
      new Shared<>(AccumuloConnection::connected, AccumuloClient::close);

  private AccumuloConnection() {}

  /** As user root. */
  static AccumuloClient connected(Properties properties) throws DBException {
    String zookeepers = Rows.needed(properties, "accumulo.zookeepers");
    String instance = Rows.needed(properties, "accumulo.instance");
    String password = Rows.needed(properties, "accumulo.password");
    try {
      return Accumulo.newClient().to(instance, zookeepers).as("root", password).build();
    } catch (RuntimeException failure) { // it declares no other
      throw new DBException("cannot use Accumulo at " + zookeepers + ": " + failure, failure);
    }
  }
}
