package org.densitystudy.stores.redis;

import java.util.Map;
import java.util.Properties;
import org.densitystudy.stores.HandStore;
import org.densitystudy.stores.Rows;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;

/** A hash for each row, by Jedis. */
public final class HandRedis implements HandStore {
  private final Jedis redis;

  public HandRedis(Properties properties) throws Exception {
    redis = RedisClient.connected(HostAndPort.from(properties.getProperty("redis.address")), properties);
  }

  @Override
  public int read(String key) {
    return redis.hgetAll(Rows.bytes(key)).size();
  }

  @Override
  public void update(String key, String field, byte[] value) {
    redis.hset(Rows.bytes(key), Map.of(Rows.bytes(field), value));
  }

  @Override
  public void close() {
    redis.close();
  }
}
