package org.densitystudy.ycsb;

import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.util.Bytes;
import site.ycsb.DBException;

/**
 * Options of the HBase client, as {@code -p name=value}; README.md describes them. All times are in ms.
 */
record ClientOptions(
    String table,
    byte[] family,
    Durability durability,
    int scanCaching,
    int rpcTimeoutMs,
    int operationTimeoutMs,
    int retries,
    int connections,
    int batch) {

  static ClientOptions of(Properties properties) throws DBException {
    String family = properties.getProperty("columnfamily", "");
    if (family.isEmpty()) {
      throw new DBException("columnfamily is not set: name the table's family, -p columnfamily=f");
    }
    if (!properties.getProperty("clientbuffering", "false").equals("false")) {
      throw new DBException("clientbuffering is not offered: it would hide every write's latency");
    }
    return new ClientOptions(
        properties.getProperty("table", "usertable"),
        Bytes.toBytes(family),
        durability(properties.getProperty("durability", "USE_DEFAULT")),
        number(properties, "hbase.scan.caching", 0),
        number(properties, "hbase.rpc.timeout.ms", 20_000),
        number(properties, "hbase.operation.timeout.ms", 60_000),
        number(properties, "hbase.retries", 8),
        number(properties, "hbase.connections", 1),
        number(properties, "inserts.batch", 1));
  }

  /** Bounds every wait, so that a lost server causes an error and not a hung thread; and connections. */
  void applyTo(Configuration configuration) {
    configuration.setInt("hbase.rpc.timeout", rpcTimeoutMs);
    configuration.setInt("hbase.client.operation.timeout", operationTimeoutMs);
    configuration.setInt("hbase.client.meta.operation.timeout", operationTimeoutMs);
    configuration.setInt("hbase.client.scanner.timeout.period", operationTimeoutMs);
    configuration.setInt("hbase.client.retries.number", retries);
    configuration.setInt("hbase.client.ipc.pool.size", connections);
  }

  private static Durability durability(String name) throws DBException {
    try {
      return Durability.valueOf(name);
    } catch (IllegalArgumentException unknown) {
      throw new DBException("durability=" + name + " is none of HBase's", unknown);
    }
  }

  private static int number(Properties properties, String name, int preset) throws DBException {
    String value = properties.getProperty(name, Integer.toString(preset));
    try {
      return Integer.parseUnsignedInt(value);
    } catch (NumberFormatException wrong) {
      throw new DBException(name + "=" + value + " is not a whole number of 0 or more", wrong);
    }
  }
}
