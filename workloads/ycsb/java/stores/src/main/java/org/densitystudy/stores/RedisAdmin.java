package org.densitystudy.stores;

import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;

/** Redis, or Valkey. The server is the study's own: all of its keys are the table's. */
final class RedisAdmin implements Admin {
  private static final long POLL_MS = 100;
  private final Jedis redis;

  RedisAdmin(Properties properties) throws Exception {
    redis = RedisClient.connected(HostAndPort.from(Rows.needed(properties, "redis.address")));
  }

  @Override
  public void empty(String table) {
    redis.flushAll();
  }

  /** With an append-only file: rewritten, so that each trial starts with a file of the same content. */
  @Override
  public void settle(String table) throws InterruptedException {
    if (!info("persistence").get("aof_enabled").equals("1")) {
      return;
    }
    redis.bgrewriteaof();
    Map<String, String> found = info("persistence");
    while (!found.get("aof_rewrite_in_progress").equals("0")
        || !found.get("aof_rewrite_scheduled").equals("0")) {
      Thread.sleep(POLL_MS);
      found = info("persistence");
    }
    if (!found.get("aof_last_bgrewrite_status").equals("ok")) {
      throw new IllegalStateException("the append-only file could not be rewritten");
    }
  }

  /** {@code background_runs}: rewrites of the append-only file so far. */
  @Override
  public Map<String, Object> state(String table) {
    Map<String, String> persistence = info("persistence");
    Map<String, Object> state = new TreeMap<>();
    state.put("rows", redis.zcard(table));
    state.put("memory_bytes", Long.parseLong(info("memory").get("used_memory")));
    state.put("background_runs", Long.parseLong(persistence.getOrDefault("aof_rewrites", "0")));
    for (String name : new String[] {"appendonly", "appendfsync"}) {
      state.put(name, redis.configGet(name).get(name));
    }
    return state;
  }

  private Map<String, String> info(String section) {
    Map<String, String> found = new TreeMap<>();
    for (String line : redis.info(section).split("\r?\n")) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        found.put(line.substring(0, colon), line.substring(colon + 1));
      }
    }
    return found;
  }

  @Override
  public void close() {
    redis.close();
  }
}
