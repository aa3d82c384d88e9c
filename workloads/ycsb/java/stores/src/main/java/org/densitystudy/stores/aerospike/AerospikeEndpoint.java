package org.densitystudy.stores.aerospike;

import com.aerospike.client.AerospikeException;
import com.aerospike.client.Bin;
import com.aerospike.client.Key;
import com.aerospike.client.Record;
import com.aerospike.client.ResultCode;
import com.aerospike.client.cluster.Node;
import com.aerospike.client.policy.QueryPolicy;
import com.aerospike.client.policy.RecordExistsAction;
import com.aerospike.client.policy.WritePolicy;
import com.aerospike.client.query.RecordSet;
import com.aerospike.client.query.Statement;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.densitystudy.stores.Admin;
import org.densitystudy.stores.Endpoint;
import org.densitystudy.stores.Rows;
import site.ycsb.DBException;

/**
 * Aerospike of others. The study has two sets in one of its namespaces: NAME-rows, and NAME-owner with one record, whose bin
 * is the tag. No other record is written or removed, and no setting is changed. Sets that are empty keep their names.
 */
public final class AerospikeEndpoint implements Endpoint {
  private static final int LEAST = 7; // before, servers named room and use in another way
  private static final String TAG = "tag";
  private static final List<String> SETTINGS =
      List.of("commit-to-device", "storage-engine", "strong-consistency", "write-commit-level-override");
  private final AerospikeConnection store;
  private final Key owner;

  public AerospikeEndpoint(Properties properties) throws DBException {
    store = new AerospikeConnection(properties);
    owner = new Key(store.namespace, Rows.needed(properties, "aerospike.set") + "-owner", "owner");
  }

  /**
   * Truncates the set by its name, and returns when no node has a record of it. What a node with a faster clock wrote just
   * before the command is younger than it, and so is truncated by another.
   */
  @Override
  public void empty(String table) throws Exception {
    for (long left = held("objects"); left > 0; left = held("objects")) {
      if (held("truncating") == 0) {
        store.client.truncate(AerospikeConnection.info(), store.namespace, store.rows, null);
      }
      long before = left;
      Admin.await(
          () -> held("objects") < before ? "" : before + " records of set " + store.rows + " are not removed");
    }
  }

  /** Nothing: what a server does in the background is for its owners to start. */
  @Override
  public void settle(String table) {}

  /**
   * {@code rows}: as clients read them. {@code background_runs}: blocks that were written by defragmentation, whoever's
   * records they hold. {@code servers}: the nodes, and the cluster's key, which is new when one of them joins or leaves.
   */
  @Override
  public Map<String, Object> state(String table) throws Exception {
    Map<Node, Map<String, String>> nodes = nodes();
    Map<String, Object> state = new TreeMap<>(settings(nodes.values()));
    Set<String> servers = new TreeSet<>();
    long defragmented = 0;
    for (Map.Entry<Node, Map<String, String>> node : nodes.entrySet()) {
      for (String name : node.getValue().keySet()) {
        defragmented += name.endsWith(".defrag_writes") ? number(node.getValue(), name) : 0;
      }
      String statistics = AerospikeConnection.asked(node.getKey(), "statistics");
      servers.add(node.getKey().getName() + "@" + pairs(statistics, ";").get("cluster_key"));
    }
    state.put("background_runs", defragmented);
    state.put("data_bytes", held("data_used_bytes"));
    state.put("rows", rows());
    state.put("servers", String.join(" ", servers));
    return state;
  }

  /** Counted here: what nodes say about a set includes copies. */
  private long rows() {
    QueryPolicy policy = new QueryPolicy(); // goes on after a failure, with the records that are left
    policy.includeBinData = false;
    Statement all = new Statement();
    all.setNamespace(store.namespace);
    all.setSetName(store.rows);
    long rows = 0;
    try (RecordSet found = store.client.query(policy, all)) {
      while (found.next()) {
        rows++;
      }
    }
    return rows;
  }

  @Override
  public Map<String, Object> owner() throws Exception {
    Map<String, Object> found = new HashMap<>();
    Record record = store.client.get(store.read, owner);
    if (record != null) {
      String tag = record.getString(TAG);
      found.put(TAG, tag == null ? "another: " + owner.setName : tag);
      return found;
    }
    if (held("objects") > 0) {
      found.put(TAG, "another: records in set " + store.rows);
    }
    return found;
  }

  @Override
  public void claim(String tag) {
    WritePolicy anew = new WritePolicy(store.write);
    anew.recordExistsAction = RecordExistsAction.CREATE_ONLY;
    try {
      store.client.put(anew, owner, new Bin(TAG, tag));
    } catch (AerospikeException failure) {
      if (failure.getResultCode() == ResultCode.KEY_EXISTS_ERROR) {
        throw new IllegalStateException("set " + owner.setName + " has an owner already", failure);
      }
      throw failure;
    }
  }

  /** The tag goes last: as long as it is there, the rest is known to be the study's. */
  @Override
  public void release(String tag) throws Exception {
    if (tag.equals(owner().get(TAG))) {
      empty("");
      store.client.delete(store.delete, owner);
    }
  }

  /**
   * {@code free_bytes}: for one copy of the rows, until a server refuses writes or evicts records that expire; the one with
   * the least counts for all.
   */
  @Override
  public Map<String, Object> facts() throws Exception {
    Map<Node, Map<String, String>> nodes = nodes();
    Map<String, Object> facts = new TreeMap<>(settings(nodes.values()));
    Set<String> versions = new TreeSet<>();
    long least = Long.MAX_VALUE;
    long copies = 1;
    for (Map.Entry<Node, Map<String, String>> node : nodes.entrySet()) {
      Map<String, String> shown = node.getValue();
      String build = AerospikeConnection.asked(node.getKey(), "build");
      if (Integer.parseInt(build.split("\\.")[0]) < LEAST) {
        throw new DBException(node.getKey() + " is Aerospike " + build + "; " + LEAST + ".0 or later is needed");
      }
      versions.add(AerospikeConnection.asked(node.getKey(), "edition") + " " + build);
      if ("true".equals(shown.get("stop_writes"))) {
        throw new DBException(node.getKey() + " refuses writes to " + store.namespace + ": stop_writes is true");
      }
      least = Math.min(least, freeBytes(shown));
      copies = Math.max(copies, number(shown, "effective_replication_factor"));
    }
    facts.put("version", String.join(" and ", versions));
    facts.put("nodes", nodes.size());
    facts.put("copies", copies);
    facts.put("free_bytes", least / copies * nodes.size());
    return facts;
  }

  static long freeBytes(Map<String, String> shown) throws DBException {
    long percent = 100;
    for (String limit : List.of("stop-writes-used-pct", "evict-used-pct")) {
      long set = number(shown, "storage-engine." + limit);
      percent = set == 0 ? percent : Math.min(percent, set); // 0: no limit
    }
    long usable = number(shown, "data_total_bytes") / 100 * percent;
    return Math.max(0, usable - number(shown, "data_used_bytes"));
  }

  /** The values of all nodes. "unknown" where a node does not say. */
  static Map<String, String> settings(Collection<Map<String, String>> nodes) {
    Map<String, String> settings = new TreeMap<>();
    for (String name : SETTINGS) {
      Set<String> values = new TreeSet<>();
      for (Map<String, String> shown : nodes) {
        values.add(shown.getOrDefault(name, shown.getOrDefault("storage-engine." + name, "unknown")));
      }
      settings.put(name, String.join(" and ", values));
    }
    return settings;
  }

  /** What all nodes together say about the set of the rows, copies included; 0 before its first record. */
  private long held(String name) throws DBException {
    long held = 0;
    for (Node node : nodes().keySet()) {
      String answer = AerospikeConnection.asked(node, "sets/" + store.namespace + "/" + store.rows);
      Map<String, String> set = pairs(answer, "[:;]");
      held += "true".equals(set.get(name)) ? 1 : "false".equals(set.get(name)) ? 0 : number(set, name);
    }
    return held;
  }

  static Map<String, String> pairs(String answer, String separator) {
    Map<String, String> found = new TreeMap<>();
    for (String pair : answer.split(separator)) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        found.put(pair.substring(0, equals), pair.substring(equals + 1));
      }
    }
    return found;
  }

  private static long number(Map<String, String> shown, String name) throws DBException {
    try {
      return Long.parseLong(shown.getOrDefault(name, "0"));
    } catch (NumberFormatException failure) {
      throw new DBException(name + "=" + shown.get(name) + " is no number", failure);
    }
  }

  /** All nodes, which must all be reached from here, and what they say about the namespace: use and settings. */
  private Map<Node, Map<String, String>> nodes() throws DBException {
    Map<Node, Map<String, String>> nodes = new HashMap<>();
    for (Node node : store.client.getNodes()) {
      String answer = AerospikeConnection.asked(node, "namespace/" + store.namespace);
      if (answer.equals("type=unknown")) {
        throw new DBException(node + " has no namespace " + store.namespace + " in its configuration");
      }
      nodes.put(node, pairs(answer, ";"));
    }
    for (Map<String, String> shown : nodes.values()) {
      long known = number(shown, "ns_cluster_size");
      if (known != nodes.size()) {
        throw new DBException(
            nodes.size() + " of " + known + " nodes are reached: the addresses that nodes announce"
                + " (access-address) may be those of another network");
      }
    }
    return nodes;
  }

  @Override
  public void close() {
    store.client.close();
  }
}
