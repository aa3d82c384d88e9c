package org.densitystudy.stores;

import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import org.densitystudy.stores.accumulo.AccumuloAdmin;
import org.densitystudy.stores.cassandra.CassandraAdmin;
import org.densitystudy.stores.kudu.KuduAdmin;
import org.densitystudy.stores.redis.RedisAdmin;
import org.densitystudy.stores.rocksdb.RocksDbAdmin;
import site.ycsb.DBException;

/** What a trial does to a store besides YCSB's operations. */
public interface Admin extends AutoCloseable {
  /** Removes all rows; the store is ready for a load of the table. */
  void empty(String table) throws Exception;

  /** Returns when the store has ended what it does after a load: flushes, compactions, rewrites. */
  void settle(String table) throws Exception;

  /** Facts for the record: {@code rows}, and what else the store shows. Values are numbers or texts. */
  Map<String, Object> state(String table) throws Exception;

  @Override
  void close() throws DBException;

  /** Polls until nothing is missing. IllegalStateException with what still is, after a minute. */
  static void await(Callable<String> missing) throws Exception {
    long untilMs = System.currentTimeMillis() + 60_000;
    for (String what = missing.call(); !what.isEmpty(); what = missing.call()) {
      if (System.currentTimeMillis() > untilMs) {
        throw new IllegalStateException(what);
      }
      Thread.sleep(100);
    }
  }

  /** The store of that name. */
  static Admin of(String store, Properties properties) throws Exception {
    if (Boolean.parseBoolean(properties.getProperty("endpoint"))) {
      return Endpoint.of(store, properties);
    }
    return switch (store) {
      case "redis" -> new RedisAdmin(properties, false);
      case "redis-cluster" -> new RedisAdmin(properties, true);
      case "rocksdb" -> new RocksDbAdmin(properties);
      case "accumulo" -> new AccumuloAdmin(properties);
      case "cassandra" -> new CassandraAdmin(properties);
      case "kudu" -> new KuduAdmin(properties);
      default -> throw new IllegalArgumentException("store=" + store + " is not known here");
    };
  }
}
