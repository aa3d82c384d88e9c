package org.densitystudy.stores.cassandra;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.densitystudy.stores.Admin;
import org.densitystudy.stores.Rows;
import site.ycsb.DBException;

/**
 * Cassandra: one keyspace, whose tables are made anew for each load. {@code cassandra.jmx=HOST:PORT,... } beside the
 * options of {@link CassandraSession}, {@code cassandra.replication=N}, {@code durability=memory|synced} and {@code
 * fieldcount=N}.
 */
public class CassandraAdmin implements Admin {
  private static final int PAGE = 10_000;
  private final Properties properties;
  final String keyspace;
  private final List<CassandraNode> nodes = new ArrayList<>();
  private CqlSession session;

  public CassandraAdmin(Properties properties) throws Exception {
    this.properties = properties;
    this.keyspace = Rows.needed(properties, "cassandra.keyspace");
    for (String address : properties.getProperty("cassandra.jmx", "").split(",")) {
      if (!address.isEmpty()) {
        nodes.add(new CassandraNode(address));
      }
    }
  }

  /** Every node must see all nodes: what happens to a schema while one is missing comes to it later. */
  @Override
  public void empty(String table) throws Exception {
    Admin.await(this::unseen);
    boolean durable = !Rows.needed(properties, "durability").equals("memory");
    String replicas = Rows.needed(properties, "cassandra.replication");
    execute(
        "CREATE KEYSPACE IF NOT EXISTS \"" + keyspace + "\" WITH replication = {'class':"
            + " 'SimpleStrategy', 'replication_factor': " + replicas + "} AND durable_writes = "
            + durable);
    execute("DROP TABLE IF EXISTS " + CassandraStatement.table(keyspace, table));
    execute(tableOf(keyspace, table, Integer.parseInt(Rows.needed(properties, "fieldcount"))));
  }

  /** Like HBase's tables: not compressed. */
  static String tableOf(String keyspace, String table, int fields) {
    List<String> names = IntStream.range(0, fields).mapToObj(number -> "field" + number).toList();
    return "CREATE TABLE " + CassandraStatement.table(keyspace, table) + " (" + CassandraStatement.KEY
        + " text PRIMARY KEY, " + CassandraStatement.columns(names, "blob")
        + ") WITH compression = {'enabled': 'false'}";
  }

  /** What is still missing until every node sees all nodes; empty once they do. */
  private String unseen() throws Exception {
    for (CassandraNode node : nodes) {
      int live = node.liveNodes();
      if (live < nodes.size()) {
        return node + " sees " + live + " of " + nodes.size() + " nodes";
      }
    }
    return "";
  }

  final void execute(String cql) throws DBException {
    if (!session().execute(cql).getExecutionInfo().isSchemaInAgreement()) {
      throw new DBException("the nodes do not agree on the schema after: " + cql);
    }
  }

  /** Flushed, and compacted into one file on each node, as HBase's tables are; then nothing is left to do. */
  @Override
  public void settle(String table) throws Exception {
    for (CassandraNode node : nodes) {
      node.flushAndCompact(keyspace, table);
    }
    Admin.await(
        () -> {
          long pending = pending();
          return pending == 0 ? "" : pending + " compactions are still pending";
        });
  }

  private long pending() throws Exception {
    long pending = 0;
    for (CassandraNode node : nodes) {
      pending += node.pendingCompactions();
    }
    return pending;
  }

  /**
   * {@code rows}: as clients read them. {@code background_runs}: compactions of the keyspace so far. What decides on
   * durability is as the servers show it.
   */
  @Override
  public Map<String, Object> state(String table) throws Exception {
    Map<String, Object> state = new TreeMap<>();
    long runs = 0;
    Set<String> modes = new TreeSet<>();
    Collection<Node> known = session().getMetadata().getNodes().values();
    if (known.size() != nodes.size()) {
      throw new IllegalStateException(known.size() + " of " + nodes.size() + " nodes are known");
    }
    for (Node node : known) {
      runs += compactions(node);
      modes.add(setting(node, "commitlog_sync"));
    }
    long bytes = 0;
    for (CassandraNode node : nodes) {
      bytes += node.liveBytes(keyspace, table);
    }
    state.put("background_runs", runs);
    state.put("compactions_pending", pending());
    state.put("commitlog_sync", String.join(" and ", modes));
    state.put("durable_writes", Boolean.toString(durableWrites()));
    state.put("files_bytes", bytes);
    state.put("rows", rows(table));
    return state;
  }

  final long compactions(Node node) throws DBException {
    long runs = 0;
    for (Row row : on(node, "SELECT keyspace_name FROM system.compaction_history")) {
      runs += keyspace.equals(row.getString(0)) ? 1 : 0;
    }
    return runs;
  }

  final String setting(Node node, String name) throws DBException {
    return on(node, "SELECT value FROM system_views.settings WHERE name = '" + name + "'")
        .one()
        .getString(0);
  }

  final ResultSet on(Node node, String cql) throws DBException {
    return session().execute(SimpleStatement.newInstance(cql).setNode(node));
  }

  final boolean durableWrites() throws DBException {
    return session().getMetadata().getKeyspace('"' + keyspace + '"').orElseThrow().isDurableWrites();
  }

  /** Counted here: a count by one coordinator would hit its time limit. */
  final long rows(String table) throws DBException {
    String cql = "SELECT " + CassandraStatement.KEY + " FROM " + CassandraStatement.table(keyspace, table);
    long rows = 0;
    for (Row row : session().execute(SimpleStatement.newInstance(cql).setPageSize(PAGE))) {
      rows += row.isNull(0) ? 0 : 1;
    }
    return rows;
  }

  final CqlSession session() throws DBException {
    if (session == null) {
      session = CassandraSession.connected(properties);
    }
    return session;
  }

  @Override
  public void close() throws DBException {
    try {
      for (CassandraNode node : nodes) {
        node.close();
      }
    } catch (java.io.IOException failure) {
      throw new DBException("a connection to Cassandra could not be closed", failure);
    } finally {
      if (session != null) {
        session.close();
      }
    }
  }
}
