package org.densitystudy.stores.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.densitystudy.stores.Admin;
import org.densitystudy.stores.Rows;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

/** Redis, or Valkey: one server or the shards of a cluster. They are the study's own: all keys are the table's. */
public class RedisAdmin implements Admin {
  static final List<String> DURABILITY = List.of("appendonly", "appendfsync");
  private static final long POLL_MS = 100;
  private final boolean isCluster;
  final List<Jedis> servers = new ArrayList<>();

  public RedisAdmin(Properties properties) throws Exception {
    this(RedisClient.addresses(Rows.needed(properties, "redis.address")), properties);
  }

  RedisAdmin(List<HostAndPort> addresses, Properties properties) throws Exception {
    isCluster = isCluster(properties);
    for (HostAndPort address : addresses) {
      servers.add(RedisClient.connected(address, properties));
    }
  }

  static boolean isCluster(Properties properties) {
    return Boolean.parseBoolean(properties.getProperty("redis.cluster"));
  }

  @Override
  public void empty(String table) {
    servers.forEach(Jedis::flushAll);
  }

  /** With an append-only file: rewritten, so that each trial starts with a file of the same content. */
  @Override
  public void settle(String table) throws InterruptedException {
    for (Jedis server : servers) {
      if (info(server, "persistence").get("aof_enabled").equals("1")) {
        rewrite(server);
      }
    }
  }

  /** A file that has doubled is rewritten by the server itself, which refuses another rewrite meanwhile. */
  private static void rewrite(Jedis server) throws InterruptedException {
    rewritten(server);
    try {
      server.bgrewriteaof();
    } catch (JedisDataException justBegun) {
      rewritten(server);
      server.bgrewriteaof();
    }
    if (!rewritten(server).get("aof_last_bgrewrite_status").equals("ok")) {
      throw new IllegalStateException("the append-only file could not be rewritten");
    }
  }

  /** What the server says when it rewrites nothing any more. */
  private static Map<String, String> rewritten(Jedis server) throws InterruptedException {
    Map<String, String> found = info(server, "persistence");
    while (!found.get("aof_rewrite_in_progress").equals("0")
        || !found.get("aof_rewrite_scheduled").equals("0")) {
      Thread.sleep(POLL_MS);
      found = info(server, "persistence");
    }
    return found;
  }

  /**
   * {@code background_runs}: rewrites of the append-only file so far. Of a cluster also {@code shards} and the rows of
   * those with the fewest and the most: a cluster has no index, so that every key is a row.
   */
  @Override
  public Map<String, Object> state(String table) {
    long memoryBytes = 0;
    long rewrites = 0;
    LongSummaryStatistics rows = new LongSummaryStatistics();
    for (Jedis server : servers) {
      memoryBytes += Long.parseLong(info(server, "memory").get("used_memory"));
      rewrites += Long.parseLong(info(server, "persistence").getOrDefault("aof_rewrites", "0"));
      rows.accept(rows(server, table));
    }
    Map<String, Object> state = new TreeMap<>();
    state.put("rows", rows.getSum());
    state.put("memory_bytes", memoryBytes);
    state.put("background_runs", rewrites);
    for (String name : DURABILITY) {
      state.put(name, configured(name));
    }
    if (isCluster) {
      state.put("shards", rows.getCount());
      state.put("rows_of_fewest", rows.getMin());
      state.put("rows_of_most", rows.getMax());
    }
    return state;
  }

  long rows(Jedis server, String table) {
    return isCluster ? server.dbSize() : server.zcard(table);
  }

  /** The values of all servers; "unknown" where users may not ask. */
  final String configured(String name) {
    Set<String> values = new TreeSet<>();
    for (Jedis server : servers) {
      try {
        values.add(server.configGet(name).getOrDefault(name, "unknown"));
      } catch (JedisDataException refused) {
        values.add("unknown");
      }
    }
    return String.join(" and ", values);
  }

  /** The values of all servers in a section of INFO. */
  final String said(String section, String name) {
    Set<String> values = new TreeSet<>();
    servers.forEach(server -> values.add(info(server, section).getOrDefault(name, "unknown")));
    return String.join(" and ", values);
  }

  static Map<String, String> info(Jedis server, String section) {
    Map<String, String> found = new TreeMap<>();
    for (String line : server.info(section).split("\r?\n")) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        found.put(line.substring(0, colon), line.substring(colon + 1));
      }
    }
    return found;
  }

  @Override
  public void close() {
    servers.forEach(Jedis::close);
  }
}
