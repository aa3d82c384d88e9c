package org.densitystudy.stores.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.densitystudy.stores.Endpoint;
import org.densitystudy.stores.Rows;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.commands.JedisCommands;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.resps.ScanResult;
import site.ycsb.DBException;

/**
 * Redis, or Valkey, of others. The study's keys begin with {@code redis.prefix}; the key PREFIXowner holds its tag. No other
 * key is written or removed, nothing is flushed and no append-only file is rewritten.
 */
public final class RedisEndpoint extends RedisAdmin implements Endpoint {
  private static final int PAGE = 1000;
  private final String prefix;
  private final String ownersKey;
  private final JedisCluster cluster; // null: one server

  public RedisEndpoint(Properties properties) throws Exception {
    super(isCluster(properties) ? masters(properties) : addresses(properties), properties);
    prefix = Rows.needed(properties, "redis.prefix");
    ownersKey = prefix + "owner";
    cluster = isCluster(properties) ? RedisClusterClient.connected(properties) : null;
  }

  private static List<HostAndPort> addresses(Properties properties) throws DBException {
    return RedisClient.addresses(Rows.needed(properties, "redis.address"));
  }

  /** All that have slots now, as the first address says. */
  private static List<HostAndPort> masters(Properties properties) throws DBException {
    HostAndPort asked = addresses(properties).get(0);
    try (Jedis one = RedisClient.connected(asked, properties)) {
      return masters(one.clusterNodes(), asked.getHost());
    }
  }

  /** Of what CLUSTER NODES says. {@code asked}: a node that was never told its own address has none. */
  static List<HostAndPort> masters(String clusterNodes, String asked) {
    List<HostAndPort> found = new ArrayList<>();
    for (String line : clusterNodes.split("\n")) {
      String[] node = line.split(" "); // id, address@bus, flags, ..., and from the ninth on its slots
      if (node.length > 8 && node[2].contains("master")) {
        String address = node[1].substring(0, node[1].indexOf('@'));
        found.add(HostAndPort.from(address.startsWith(":") ? asked + address : address));
      }
    }
    return found;
  }

  private JedisCommands keys() {
    return cluster == null ? servers.get(0) : cluster;
  }

  /** Calls {@code page} with keys of the study, page by page: a request walks a few of the server's keys. */
  private void own(Jedis server, Consumer<List<String>> page) {
    ScanParams params = new ScanParams().match(prefix + "*").count(PAGE);
    String cursor = ScanParams.SCAN_POINTER_START;
    do {
      ScanResult<String> found = server.scan(cursor, params);
      page.accept(found.getResult().stream().filter(key -> !key.equals(ownersKey)).toList());
      cursor = found.getCursor();
    } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
  }

  @Override
  public void empty(String table) {
    for (Jedis server : servers) {
      own(server, keys -> unlink(server, keys));
    }
  }

  private static void unlink(Jedis server, List<String> keys) {
    try (Pipeline pipeline = server.pipelined()) {
      keys.forEach(pipeline::unlink);
      for (Object answer : pipeline.syncAndReturnAll()) {
        if (answer instanceof JedisException failure) {
          throw failure;
        }
      }
    }
  }

  /** Nothing: what a server does in the background is for its owners to start. */
  @Override
  public void settle(String table) {}

  @Override
  long rows(Jedis server, String table) {
    if (cluster == null) {
      return server.zcard(prefix + table);
    }
    long[] rows = new long[1];
    own(server, keys -> rows[0] += new LinkedHashSet<>(keys).size());
    return rows[0];
  }

  @Override
  public Map<String, Object> state(String table) {
    Map<String, Object> state = super.state(table);
    state.put("servers", said("server", "run_id"));
    return state;
  }

  @Override
  public Map<String, Object> owner() {
    String tag = keys().get(ownersKey);
    Map<String, Object> found = new HashMap<>();
    if (tag != null) {
      found.put("tag", tag);
    } else {
      servers.forEach(
          server -> own(server, keys -> keys.forEach(key -> found.put("tag", "another: " + key))));
    }
    return found;
  }

  @Override
  public void claim(String tag) {
    if (keys().set(ownersKey, tag, new SetParams().nx()) == null) {
      throw new IllegalStateException("the key " + ownersKey + " exists already");
    }
  }

  /** The tag goes last: as long as it is there, the rest is known to be the study's. */
  @Override
  public void release(String tag) {
    if (tag.equals(keys().get(ownersKey))) {
      empty("");
      keys().del(ownersKey);
    }
  }

  /** {@code free_bytes}: of the server with the least, below its maxmemory; no entry without a limit. */
  @Override
  public Map<String, Object> facts() {
    Map<String, Object> facts = new TreeMap<>();
    facts.put("version", said("server", "redis_version"));
    facts.put("maxmemory_policy", said("memory", "maxmemory_policy"));
    facts.put("masters", servers.size());
    for (String name : DURABILITY) {
      facts.put(name, configured(name));
    }
    for (Jedis server : servers) {
      Map<String, String> memory = info(server, "memory");
      long limit = Long.parseLong(memory.get("maxmemory"));
      if (limit > 0) {
        long free = limit - Long.parseLong(memory.get("used_memory"));
        facts.merge("free_bytes", free, (one, other) -> Math.min((Long) one, (Long) other));
      }
    }
    return facts;
  }

  @Override
  public void close() {
    super.close();
    if (cluster != null) {
      cluster.close();
    }
  }
}
