package org.densitystudy.stores;

import java.util.Properties;
import org.densitystudy.stores.accumulo.AccumuloAdmin;
import org.densitystudy.stores.aerospike.AerospikeEndpoint;
import org.densitystudy.stores.cassandra.CassandraAdmin;
import org.densitystudy.stores.cassandra.CassandraEndpoint;
import org.densitystudy.stores.kudu.KuduAdmin;
import org.densitystudy.stores.redis.RedisAdmin;
import org.densitystudy.stores.redis.RedisEndpoint;
import org.densitystudy.stores.rocksdb.RocksDbAdmin;

/** The stores by name. */
public final class Stores {
  private Stores() {}

  /** The store of that name: one that the study makes, or, with the property {@code endpoint}, one that stands. */
  public static Admin of(String store, Properties properties) throws Exception {
    boolean stands = Boolean.parseBoolean(properties.getProperty("endpoint"));
    return stands ? endpoint(store, properties) : made(store, properties);
  }

  private static Admin made(String store, Properties properties) throws Exception {
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

  private static Endpoint endpoint(String store, Properties properties) throws Exception {
    return switch (store) {
      case "redis" -> new RedisEndpoint(properties, false);
      case "redis-cluster" -> new RedisEndpoint(properties, true);
      case "aerospike" -> new AerospikeEndpoint(properties);
      case "cassandra" -> new CassandraEndpoint(properties);
      default -> throw new IllegalArgumentException("store=" + store + " is no endpoint here");
    };
  }
}
