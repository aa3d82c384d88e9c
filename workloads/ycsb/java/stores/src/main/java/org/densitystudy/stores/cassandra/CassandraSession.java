package org.densitystudy.stores.cassandra;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.ssl.ProgrammaticSslEngineFactory;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.densitystudy.stores.Rows;
import org.densitystudy.stores.Shared;
import org.densitystudy.stores.Tls;
import site.ycsb.DBException;

/**
 * One session per JVM, opened by the first thread and closed by the last: it holds a connection to each node, and
 * sends each request to a node that has the row.
 *
 * <p>Writes are acknowledged by every replica (ALL), as HBase's are by every DataNode of the pipeline, and so a read of
 * one replica (ONE) sees them. {@code -p cassandra.nodes=HOST:PORT,... -p cassandra.keyspace=NAME}
 */
final class CassandraSession {
  private static final Duration ANSWER = Duration.ofSeconds(60);
  private static final String DATACENTER = "datacenter1"; // of nodes that are told of none

  static final Shared<CassandraSession> SHARED =
      new Shared<>(CassandraSession::new, opened -> opened.session.close());

  private final CqlSession session;
  private final ConcurrentHashMap<CassandraStatement.Shape, CassandraStatement> prepared =
      new ConcurrentHashMap<>();

  private CassandraSession(Properties properties) throws DBException {
    session = connected(properties);
  }

  static CqlSession connected(Properties properties) throws DBException {
    String nodes = Rows.needed(properties, "cassandra.nodes");
    DriverConfigLoader options =
        DriverConfigLoader.programmaticBuilder()
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, ANSWER)
            .withDuration(DefaultDriverOption.CONNECTION_CONNECT_TIMEOUT, ANSWER)
            .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, ANSWER)
            .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, ANSWER)
            .withDuration(DefaultDriverOption.METADATA_SCHEMA_REQUEST_TIMEOUT, ANSWER)
            .withDuration(DefaultDriverOption.CONTROL_CONNECTION_AGREEMENT_TIMEOUT, ANSWER)
            // Closing waits for two seconds by default, in which nothing happens.
            .withDuration(DefaultDriverOption.NETTY_IO_SHUTDOWN_QUIET_PERIOD, Duration.ZERO)
            .withDuration(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_QUIET_PERIOD, Duration.ZERO)
            .build();
    try {
      CqlSessionBuilder builder =
          CqlSession.builder()
              .addContactPoints(addresses(nodes))
              .withLocalDatacenter(properties.getProperty("cassandra.datacenter", DATACENTER))
              .withConfigLoader(options);
      SSLContext tls = Tls.context(properties);
      if (tls != null) {
        builder = builder.withSslEngineFactory(new ProgrammaticSslEngineFactory(tls, null, true));
      }
      String user = properties.getProperty("store.user", "");
      return (user.isEmpty()
              ? builder
              : builder.withAuthCredentials(user, Rows.password(properties)))
          .build();
    } catch (DriverException failure) {
      throw new DBException("cannot use Cassandra at " + nodes + ": " + failure, failure);
    }
  }

  static List<InetSocketAddress> addresses(String nodes) {
    return Stream.of(nodes.split(",")).map(CassandraSession::address).toList();
  }

  private static InetSocketAddress address(String node) {
    int colon = node.lastIndexOf(':');
    return new InetSocketAddress(
        node.substring(0, colon), Integer.parseInt(node.substring(colon + 1)));
  }

  CqlSession session() {
    return session;
  }

  /** Prepared once per JVM. Repeating a request does no harm: clients give each write its time. */
  CassandraStatement prepared(CassandraStatement.Shape shape) {
    CassandraStatement found = prepared.get(shape);
    return found != null ? found : prepared.computeIfAbsent(shape.kept(), this::prepare);
  }

  private CassandraStatement prepare(CassandraStatement.Shape shape) {
    List<String> fields = shape.fields().stream().sorted().toList();
    SimpleStatement text =
        SimpleStatement.builder(shape.cql(fields))
            .setConsistencyLevel(shape.level())
            .setIdempotence(true)
            .build();
    return new CassandraStatement(session.prepare(text), fields);
  }

  /** What happened: the driver says "all nodes failed", and has the reasons in a list. */
  static Exception reason(DriverException failure) {
    if (failure instanceof AllNodesFailedException every) {
      for (List<Throwable> ofNode : every.getAllErrors().values()) {
        if (ofNode.get(0) instanceof Exception first) {
          return first;
        }
      }
    }
    return failure;
  }
}
