package org.densitystudy.stores;

import java.util.Map;
import java.util.Properties;
import site.ycsb.DBException;

/** What a trial does to a store besides YCSB's operations. */
interface Admin extends AutoCloseable {
  /** Removes all rows; the store is ready for a load of the table. */
  void empty(String table) throws Exception;

  /** Returns when the store has ended what it does after a load: flushes, compactions, rewrites. */
  void settle(String table) throws Exception;

  /** Facts for the record: {@code rows}, and what else the store shows. Values are numbers or texts. */
  Map<String, Object> state(String table) throws Exception;

  @Override
  void close() throws DBException;

  /** The store of that name. */
  static Admin of(String store, Properties properties) throws Exception {
    return switch (store) {
      case "redis" -> new RedisAdmin(properties);
      case "rocksdb" -> new RocksDbAdmin(properties);
      case "cassandra" -> new CassandraAdmin(properties);
      case "kudu" -> new KuduAdmin(properties);
      default -> throw new IllegalArgumentException("store=" + store + " is not known here");
    };
  }
}
