package org.densitystudy.stores.kudu;

import java.util.Properties;
import org.apache.kudu.client.KuduClient;
import org.apache.kudu.client.KuduException;
import org.densitystudy.stores.Rows;
import org.densitystudy.stores.Shared;
import site.ycsb.DBException;

/**
 * One client per JVM, opened by the first thread and closed by the last: it holds a connection to each tablet server.
 * {@code -p kudu.masters=HOST:PORT}
 */
final class KuduConnection {
  private static final long ANSWER_MS = 60_000;

  static final Shared<KuduClient> SHARED =
      new Shared<>(KuduConnection::connected, KuduConnection::close);

  private KuduConnection() {}

  static KuduClient connected(Properties properties) throws DBException {
    return new KuduClient.KuduClientBuilder(Rows.needed(properties, "kudu.masters"))
        .defaultOperationTimeoutMs(ANSWER_MS)
        .defaultAdminOperationTimeoutMs(ANSWER_MS)
        .build();
  }

  static void close(KuduClient client) throws DBException {
    try {
      client.close();
    } catch (KuduException failure) {
      throw new DBException("the connection to Kudu could not be closed", failure);
    }
  }
}
