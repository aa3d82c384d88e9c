package org.densitystudy.stores.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.densitystudy.stores.Rows;
import org.densitystudy.stores.Tls;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.commands.JedisBinaryCommands;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB's operations on Redis or Valkey: a row is a hash, one connection per client thread.
 *
 * <p>Redis orders nothing by key. A sorted set named like the table holds all keys with the same score, and so in
 * byte order: scans go through it, in two round trips. An insert writes its row, then the key into that set, in one
 * round trip with two replies; both are read. An update changes fields of an existing row, and leaves the set alone.
 *
 * <p>{@code -p redis.address=HOST:PORT}, and for a server of others {@code -p redis.prefix=TEXT -p store.user=NAME -p
 * store.password.file=PATH}, and those of {@link Tls}
 */
public final class RedisClient extends Rows {
  private HostAndPort address;
  private JedisClientConfig options;
  private String prefix;
  private Jedis connection;

  /** YCSB creates instances by name, then calls init. */
  public RedisClient() {}

  @Override
  protected void open(Properties properties) throws DBException {
    address = HostAndPort.from(needed(properties, "redis.address"));
    options = options(properties);
    prefix = prefix(properties);
    try {
      redis().ping();
    } catch (JedisException failure) {
      throw new DBException("cannot use Redis at " + address + ": " + failure, failure);
    }
  }

  @Override
  protected void close() {
    if (connection != null) {
      connection.close();
      connection = null;
    }
  }

  static Jedis connected(HostAndPort address, Properties properties) throws DBException {
    return new Jedis(address, options(properties));
  }

  static JedisClientConfig options(Properties properties) throws DBException {
    String user = properties.getProperty("store.user", "");
    DefaultJedisClientConfig.Builder options =
        DefaultJedisClientConfig.builder()
            .connectionTimeoutMillis(5_000)
            .socketTimeoutMillis(60_000)
            .user(user.isEmpty() ? null : user)
            .password(password(properties));
    SSLContext tls = Tls.context(properties);
    if (tls != null) {
      SSLParameters checked = new SSLParameters();
      checked.setEndpointIdentificationAlgorithm("HTTPS"); // Jedis checks no names by itself
      options.ssl(true).sslSocketFactory(tls.getSocketFactory()).sslParameters(checked);
    }
    return options.build();
  }

  /** Of all keys, where the server is not the study's own. */
  static String prefix(Properties properties) {
    return properties.getProperty("redis.prefix", "");
  }

  static List<HostAndPort> addresses(String listed) {
    return Stream.of(listed.split(",")).map(HostAndPort::from).toList();
  }

  /** After a lost connection the next operation opens another one. */
  private Jedis redis() {
    if (connection == null) {
      connection = new Jedis(address, options);
    }
    return connection;
  }

  @Override
  public Status read(
      String table, String key, Set<String> wanted, Map<String, ByteIterator> result) {
    try {
      return read(redis(), prefix + key, wanted, result);
    } catch (JedisException failure) {
      return lost("READ", failure);
    }
  }

  static Status read(
      JedisBinaryCommands redis,
      String key,
      Set<String> wanted,
      Map<String, ByteIterator> result) {
    byte[] row = bytes(key);
    if (wanted == null) {
      redis.hgetAll(row).forEach((field, value) -> result.put(text(field), value(value)));
    } else {
      String[] fields = wanted.toArray(String[]::new);
      put(fields, redis.hmget(row, encoded(fields)), result);
    }
    return result.isEmpty() ? Status.NOT_FOUND : Status.OK;
  }

  @Override
  public Status scan(
      String table,
      String start,
      int rows,
      Set<String> wanted,
      Vector<HashMap<String, ByteIterator>> result) {
    String[] fields = wanted == null ? null : wanted.toArray(String[]::new);
    try {
      List<byte[]> keys =
          redis().zrangeByLex(index(table), bytes("[" + prefix + start), bytes("+"), 0, rows);
      if (fields == null) {
        List<Response<Map<byte[], byte[]>>> found = new ArrayList<>(keys.size());
        try (Pipeline pipeline = redis().pipelined()) {
          keys.forEach(key -> found.add(pipeline.hgetAll(key)));
        }
        for (Response<Map<byte[], byte[]>> one : found) {
          HashMap<String, ByteIterator> row = rowOf(result);
          one.get().forEach((field, value) -> row.put(text(field), value(value)));
        }
      } else {
        List<Response<List<byte[]>>> found = new ArrayList<>(keys.size());
        byte[][] names = encoded(fields);
        try (Pipeline pipeline = redis().pipelined()) {
          keys.forEach(key -> found.add(pipeline.hmget(key, names)));
        }
        for (Response<List<byte[]>> one : found) {
          put(fields, one.get(), rowOf(result));
        }
      }
      return Status.OK;
    } catch (JedisException failure) {
      return lost("SCAN", failure);
    }
  }

  @Override
  protected Status write(
      String operation, String table, String key, Map<String, ByteIterator> values) {
    try {
      redis().hset(bytes(prefix + key), encoded(values));
      return Status.OK;
    } catch (JedisException failure) {
      return lost(operation, failure);
    }
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    byte[] row = bytes(prefix + key);
    try {
      Response<Long> written;
      Response<Long> indexed;
      try (Pipeline pipeline = redis().pipelined()) {
        written = pipeline.hset(row, encoded(values));
        indexed = pipeline.zadd(index(table), 0, row);
      }
      written.get(); // throws what the server answered
      indexed.get();
      return Status.OK;
    } catch (JedisException failure) {
      return lost("INSERT", failure);
    }
  }

  @Override
  public Status delete(String table, String key) {
    byte[] row = bytes(prefix + key);
    try {
      Response<Long> unindexed;
      Response<Long> removed;
      try (Pipeline pipeline = redis().pipelined()) {
        unindexed = pipeline.zrem(index(table), row);
        removed = pipeline.del(row);
      }
      unindexed.get();
      removed.get();
      return Status.OK;
    } catch (JedisException failure) {
      return lost("DELETE", failure);
    }
  }

  private byte[] index(String table) {
    return bytes(prefix + table);
  }

  private static byte[][] encoded(String[] fields) {
    byte[][] names = new byte[fields.length][];
    for (int i = 0; i < fields.length; i++) {
      names[i] = bytes(fields[i]);
    }
    return names;
  }

  private static void put(String[] fields, List<byte[]> values, Map<String, ByteIterator> into) {
    for (int i = 0; i < fields.length; i++) {
      if (values.get(i) != null) {
        into.put(fields[i], value(values.get(i)));
      }
    }
  }

  private Status lost(String operation, JedisException failure) {
    if (failure instanceof JedisConnectionException && connection != null) {
      try {
        connection.close();
      } catch (JedisException alreadyGone) {
        failure.addSuppressed(alreadyGone);
      }
      connection = null;
    }
    return failed(operation, failure);
  }
}
