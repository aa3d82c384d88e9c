package org.densitystudy.stores.aerospike;

import com.aerospike.client.AerospikeClient;
import com.aerospike.client.AerospikeException;
import com.aerospike.client.Host;
import com.aerospike.client.Info;
import com.aerospike.client.Key;
import com.aerospike.client.Log;
import com.aerospike.client.cluster.Node;
import com.aerospike.client.policy.ClientPolicy;
import com.aerospike.client.policy.CommitLevel;
import com.aerospike.client.policy.InfoPolicy;
import com.aerospike.client.policy.Policy;
import com.aerospike.client.policy.RecordExistsAction;
import com.aerospike.client.policy.Replica;
import com.aerospike.client.policy.WritePolicy;
import java.util.Properties;
import org.densitystudy.stores.Rows;
import org.densitystudy.stores.Shared;
import site.ycsb.Client;
import site.ycsb.DBException;

/**
 * One client per JVM, opened by the first thread and closed by the last: it finds all nodes, and sends each request to the
 * one that has the master copy of the record.
 *
 * <p>A failed request is not repeated, and always went to a server: the client neither retries nor backs off. Records never
 * expire, so that a server does not evict them. {@code -p aerospike.hosts=HOST:PORT,... -p aerospike.namespace=NAME -p
 * aerospike.set=NAME}, and {@code -p store.user=NAME -p store.password.file=PATH}
 */
final class AerospikeConnection {
  private static final int CONNECT_MS = 5_000;
  private static final int ANSWER_MS = 60_000;
  private static final int SPARE_CONNECTIONS = 8; // of queries and of the thread that warms up
  private static final int NO_PORT = 0; // each address has its own
  private static final int NEVER = -1;
  private static final String ROWS = "-rows"; // namespaces of studies have no dash

  static final Shared<AerospikeConnection> SHARED =
      new Shared<>(AerospikeConnection::new, opened -> opened.client.close());

  final AerospikeClient client;
  final String namespace;
  final String rows;
  final Policy read = limited(new Policy());
  final WritePolicy write = write(false);
  final WritePolicy delete;

  AerospikeConnection(Properties properties) throws DBException {
    String hosts = Rows.needed(properties, "aerospike.hosts");
    namespace = Rows.needed(properties, "aerospike.namespace");
    rows = Rows.needed(properties, "aerospike.set") + ROWS;
    Log.setLevel(Log.Level.WARN);
    Log.setCallback((level, message) -> System.err.println("aerospike-client: " + level + " " + message));
    try {
      client = new AerospikeClient(options(properties), Host.parseHosts(hosts, NO_PORT));
    } catch (AerospikeException failure) {
      throw new DBException("cannot use Aerospike at " + hosts + ": " + failure, failure);
    }
    try {
      // Without a tombstone a deleted record may come back; Community Edition has none.
      delete = write(!asked(client.getNodes()[0], "edition").contains("Community"));
    } catch (DBException | AerospikeException failure) {
      client.close();
      throw failure;
    }
  }

  static ClientPolicy options(Properties properties) throws DBException {
    ClientPolicy options = new ClientPolicy();
    String user = properties.getProperty("store.user", "");
    if (!user.isEmpty()) {
      options.user = user;
      options.password = Rows.password(properties);
    }
    options.timeout = CONNECT_MS;
    // A thread that finds no free connection would fail without having asked.
    String threads = properties.getProperty(Client.THREAD_COUNT_PROPERTY, "1");
    options.maxConnsPerNode = Integer.parseInt(threads) + SPARE_CONNECTIONS;
    options.maxErrorRate = 0; // by default, requests after 100 failures in a second are not sent
    return options;
  }

  static <T extends Policy> T limited(T policy) {
    policy.connectTimeout = CONNECT_MS;
    policy.socketTimeout = ANSWER_MS;
    policy.totalTimeout = ANSWER_MS;
    policy.maxRetries = 0;
    policy.replica = Replica.MASTER;
    return policy;
  }

  /** Fields are written into the record, and its others stay. Master and replicas have it before the reply. */
  private static WritePolicy write(boolean durableDelete) {
    WritePolicy policy = limited(new WritePolicy());
    policy.recordExistsAction = RecordExistsAction.UPDATE;
    policy.commitLevel = CommitLevel.COMMIT_ALL;
    policy.expiration = NEVER;
    policy.durableDelete = durableDelete;
    return policy;
  }

  Key key(String key) {
    return new Key(namespace, rows, key);
  }

  /** A node's answer to an info command. */
  static String asked(Node node, String command) throws DBException {
    String answer = Info.request(info(), node, command);
    if (answer == null || answer.startsWith("ERROR") || answer.startsWith("FAIL")) {
      throw new DBException(node + " answered to " + command + ": " + answer);
    }
    return answer;
  }

  static InfoPolicy info() {
    InfoPolicy policy = new InfoPolicy();
    policy.timeout = ANSWER_MS;
    return policy;
  }
}
