package org.densitystudy.stores.redis;

import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.densitystudy.stores.Rows;
import redis.clients.jedis.Connection;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.exceptions.JedisException;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB's operations on Redis Cluster: a row is a hash on the shard of its key; one connection per client thread and
 * shard.
 *
 * <p>There is no index: keys in order would lie in one set, and so on one shard, which every insert and scan would need.
 * A scan is NOT_IMPLEMENTED, and studies with one are refused. A failed request is not repeated.
 *
 * <p>{@code -p redis.address=HOST:PORT,...}, and the other options of {@link RedisClient}
 */
public final class RedisClusterClient extends Rows {
  private static final int ATTEMPTS = 1;
  private JedisCluster redis;
  private String prefix;

  /** YCSB creates instances by name, then calls init. */
  public RedisClusterClient() {}

  @Override
  protected void open(Properties properties) throws DBException {
    prefix = RedisClient.prefix(properties);
    redis = connected(properties);
  }

  static JedisCluster connected(Properties properties) throws DBException {
    String addresses = needed(properties, "redis.address");
    GenericObjectPoolConfig<Connection> pools = new GenericObjectPoolConfig<>(); // no eviction thread
    pools.setJmxEnabled(false);
    try {
      return new JedisCluster(
          Set.copyOf(RedisClient.addresses(addresses)),
          RedisClient.options(properties),
          ATTEMPTS,
          pools);
    } catch (JedisException failure) {
      throw new DBException("cannot use Redis Cluster at " + addresses + ": " + failure, failure);
    }
  }

  @Override
  protected void close() {
    redis.close();
  }

  @Override
  public Status read(
      String table, String key, Set<String> wanted, Map<String, ByteIterator> result) {
    String[] fields = wanted == null ? null : wanted.toArray(String[]::new);
    byte[] row = bytes(prefix + key);
    byte[][] arguments = RedisClient.arguments(row, fields);
    try {
      return RedisClient.put(
          fields, redis.sendCommand(row, RedisClient.reading(fields), arguments), result);
    } catch (JedisException failure) {
      return failed("READ", reason(failure));
    }
  }

  @Override
  protected Status write(
      String operation, String table, String key, Map<String, ByteIterator> values) {
    try {
      redis.hset(bytes(prefix + key), encoded(values));
      return Status.OK;
    } catch (JedisException failure) {
      return failed(operation, reason(failure));
    }
  }

  @Override
  public Status delete(String table, String key) {
    try {
      redis.del(bytes(prefix + key));
      return Status.OK;
    } catch (JedisException failure) {
      return failed("DELETE", reason(failure));
    }
  }

  /** What happened: Jedis says "no more attempts left", and has the reason among what it suppressed. */
  static Exception reason(JedisException failure) {
    Throwable[] suppressed = failure.getSuppressed();
    return suppressed.length > 0 && suppressed[0] instanceof Exception first ? first : failure;
  }
}
