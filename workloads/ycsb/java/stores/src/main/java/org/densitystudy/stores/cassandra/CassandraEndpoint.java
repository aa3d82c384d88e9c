package org.densitystudy.stores.cassandra;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.Version;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.NodeState;
import com.datastax.oss.driver.api.core.metadata.schema.KeyspaceMetadata;
import com.datastax.oss.driver.api.core.metadata.schema.TableMetadata;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.densitystudy.stores.Admin;
import org.densitystudy.stores.Endpoint;
import org.densitystudy.stores.Rows;
import site.ycsb.DBException;

/**
 * Cassandra of others, by CQL alone. The study has one keyspace; the comment of its table {@code owner} is the tag. Nothing
 * is flushed or compacted. Needs Cassandra 4.1: what older ones drop they keep as snapshots, which CQL cannot remove.
 */
public final class CassandraEndpoint extends CassandraAdmin implements Endpoint {
  private static final String OWNER = "owner";
  private static final Version LEAST = Version.parse("4.1.0");
  private static final String UNSAVED = " AND allow_auto_snapshot = false";
  private final Properties properties;

  public CassandraEndpoint(Properties properties) throws Exception {
    super(properties);
    this.properties = properties;
  }

  @Override
  public void empty(String table) throws Exception {
    String name = CassandraStatement.table(keyspace, table);
    execute("DROP TABLE IF EXISTS " + name);
    int fields = Integer.parseInt(Rows.needed(properties, "fieldcount"));
    execute(tableOf(keyspace, table, fields) + UNSAVED);
  }

  /** Returns when no node compacts the keyspace's tables any more. */
  @Override
  public void settle(String table) throws Exception {
    Admin.await(
        () -> {
          for (Node node : nodes()) {
            String cql = "SELECT kind FROM system_views.sstable_tasks WHERE keyspace_name = '" + keyspace + "'";
            if (on(node, cql).one() != null) {
              return node + " still compacts";
            }
          }
          return "";
        });
  }

  /** {@code servers}: the nodes' starts, which change when one restarts. */
  @Override
  public Map<String, Object> state(String table) throws Exception {
    Map<String, Object> state = new TreeMap<>();
    long runs = 0;
    Set<String> starts = new TreeSet<>();
    for (Node node : nodes()) {
      runs += compactions(node);
      int start = on(node, "SELECT gossip_generation FROM system.local").one().getInt(0);
      starts.add(node.getHostId() + "@" + start);
    }
    state.put("background_runs", runs);
    state.put("commitlog_sync", modes());
    state.put("durable_writes", Boolean.toString(durableWrites()));
    state.put("rows", rows(table));
    state.put("servers", String.join(" ", starts));
    return state;
  }

  @Override
  public Map<String, Object> owner() throws Exception {
    Map<String, Object> found = new HashMap<>();
    Optional<KeyspaceMetadata> own = session().refreshSchema().getKeyspace('"' + keyspace + '"');
    if (own.isPresent()) {
      Optional<TableMetadata> owner = own.get().getTable(OWNER);
      String another = own.get().getTables().isEmpty() ? "" : "another";
      found.put("tag", owner.map(CassandraEndpoint::comment).orElse(another));
    }
    return found;
  }

  private static String comment(TableMetadata table) {
    return String.valueOf(table.getOptions().get(CqlIdentifier.fromInternal("comment")));
  }

  @Override
  public void claim(String tag) throws Exception {
    String datacenter = Rows.needed(properties, "cassandra.datacenter");
    String replicas = Rows.needed(properties, "cassandra.replication");
    execute(
        "CREATE KEYSPACE \"" + keyspace + "\" WITH replication = {'class': 'NetworkTopologyStrategy', '"
            + datacenter + "': " + replicas + "}");
    execute(
        "CREATE TABLE " + CassandraStatement.table(keyspace, OWNER) + " (tag text PRIMARY KEY) WITH comment = '"
            + tag + "'" + UNSAVED);
  }

  /** A keyspace without tables is one that was made a moment before its tag. */
  @Override
  public void release(String tag) throws Exception {
    Object owner = owner().get("tag");
    if (tag.equals(owner) || "".equals(owner)) {
      execute("DROP KEYSPACE IF EXISTS \"" + keyspace + "\"");
    }
  }

  @Override
  public Map<String, Object> facts() throws Exception {
    Map<String, Object> facts = new TreeMap<>();
    Set<String> versions = new TreeSet<>();
    for (Node node : nodes()) {
      Version version = node.getCassandraVersion();
      if (version == null || version.nextStable().compareTo(LEAST) < 0) {
        throw new DBException(node + " is Cassandra " + version + "; 4.1 or later is needed");
      }
      versions.add(version.toString());
    }
    facts.put("version", String.join(" and ", versions));
    facts.put("commitlog_sync", modes());
    facts.put("nodes", nodes().size());
    return facts;
  }

  private String modes() throws DBException {
    Set<String> modes = new TreeSet<>();
    for (Node node : nodes()) {
      modes.add(setting(node, "commitlog_sync"));
    }
    return String.join(" and ", modes);
  }

  /** All nodes, which must be up: writes need every replica. */
  private Collection<Node> nodes() throws DBException {
    Collection<Node> known = session().getMetadata().getNodes().values();
    for (Node node : known) {
      if (node.getState() == NodeState.DOWN || node.getState() == NodeState.FORCED_DOWN) {
        throw new DBException(node + " is down");
      }
    }
    return known;
  }
}
