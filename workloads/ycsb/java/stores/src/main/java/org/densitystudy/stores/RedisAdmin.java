package org.densitystudy.stores;

import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;

/** Redis, or Valkey: one server or the shards of a cluster. They are the study's own: all keys are the table's. */
final class RedisAdmin implements Admin {
  private static final long POLL_MS = 100;
  private final boolean isCluster;
  private final List<Jedis> servers = new ArrayList<>();

  RedisAdmin(Properties properties, boolean isCluster) throws Exception {
    this.isCluster = isCluster;
    for (HostAndPort address : RedisClient.addresses(Rows.needed(properties, "redis.address"))) {
      servers.add(RedisClient.connected(address));
    }
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

  private static void rewrite(Jedis server) throws InterruptedException {
    server.bgrewriteaof();
    Map<String, String> found = info(server, "persistence");
    while (!found.get("aof_rewrite_in_progress").equals("0")
        || !found.get("aof_rewrite_scheduled").equals("0")) {
      Thread.sleep(POLL_MS);
      found = info(server, "persistence");
    }
    if (!found.get("aof_last_bgrewrite_status").equals("ok")) {
      throw new IllegalStateException("the append-only file could not be rewritten");
    }
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
      rows.accept(isCluster ? server.dbSize() : server.zcard(table));
    }
    Map<String, Object> state = new TreeMap<>();
    state.put("rows", rows.getSum());
    state.put("memory_bytes", memoryBytes);
    state.put("background_runs", rewrites);
    for (String name : new String[] {"appendonly", "appendfsync"}) {
      Set<String> values = new TreeSet<>();
      servers.forEach(server -> values.add(server.configGet(name).get(name)));
      state.put(name, String.join(" and ", values));
    }
    if (isCluster) {
      state.put("shards", rows.getCount());
      state.put("rows_of_fewest", rows.getMin());
      state.put("rows_of_most", rows.getMax());
    }
    return state;
  }

  private static Map<String, String> info(Jedis server, String section) {
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
