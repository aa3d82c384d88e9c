package org.densitystudy.stores.redis;

import static redis.clients.jedis.Protocol.Command.HGETALL;
import static redis.clients.jedis.Protocol.Command.HMGET;

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
import redis.clients.jedis.Protocol;
import redis.clients.jedis.Response;
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
    String[] fields = wanted == null ? null : wanted.toArray(String[]::new);
    byte[][] arguments = arguments(bytes(prefix + key), fields);
    try {
      return put(fields, redis().sendCommand(reading(fields), arguments), result);
    } catch (JedisException failure) {
      return lost("READ", failure);
    }
  }

  /** For all fields, where {@code fields} is null, as in the methods below. */
  static Protocol.Command reading(String[] fields) {
    return fields == null ? HGETALL : HMGET;
  }

  static byte[][] arguments(byte[] row, String[] fields) {
    if (fields == null) {
      return new byte[][] {row};
    }
    byte[][] arguments = new byte[1 + fields.length][];
    arguments[0] = row;
    for (int i = 0; i < fields.length; i++) {
      arguments[1 + i] = bytes(fields[i]);
    }
    return arguments;
  }

  /** The reply as it came, names before their values: Jedis's map of it is copied, entry by entry, when it is read. */
  static Status put(String[] fields, Object reply, Map<String, ByteIterator> into) {
    List<?> values = (List<?>) reply;
    if (fields == null) {
      for (int i = 0; i < values.size(); i += 2) {
        into.put(text((byte[]) values.get(i)), value((byte[]) values.get(i + 1)));
      }
    } else {
      for (int i = 0; i < fields.length; i++) {
        if (values.get(i) instanceof byte[] value) {
          into.put(fields[i], value(value));
        }
      }
    }
    return into.isEmpty() ? Status.NOT_FOUND : Status.OK;
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
      List<Response<Object>> found = new ArrayList<>(keys.size());
      try (Pipeline pipeline = redis().pipelined()) {
        keys.forEach(key -> found.add(pipeline.sendCommand(reading(fields), arguments(key, fields))));
      }
      for (Response<Object> one : found) {
        put(fields, one.get(), rowOf(result));
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
