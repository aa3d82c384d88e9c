package org.densitystudy.stores.cassandra;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** A node as JMX shows it: CQL has no statement that flushes or compacts. */
final class CassandraNode implements Closeable {
  private static final String STORAGE = "org.apache.cassandra.db:type=StorageService";
  private static final String METRICS = "org.apache.cassandra.metrics:type=";
  private static final String TEXTS = String[].class.getName();
  private final String address;
  private final JMXConnector connector;
  private final MBeanServerConnection server;

  /** {@code address}: HOST:PORT. */
  CassandraNode(String address) throws IOException {
    this.address = address;
    connector =
        JMXConnectorFactory.connect(
            new JMXServiceURL("service:jmx:rmi:///jndi/rmi://" + address + "/jmxrmi"));
    server = connector.getMBeanServerConnection();
  }

  /** Nodes that this one believes to be up, itself included. */
  int liveNodes() throws JMException, IOException {
    return ((List<?>) server.getAttribute(new ObjectName(STORAGE), "LiveNodesWithPort")).size();
  }

  /** Returns when both are done. */
  void flushAndCompact(String keyspace, String table) throws JMException, IOException {
    String text = String.class.getName();
    String[] tables = {table};
    ObjectName storage = new ObjectName(STORAGE);
    server.invoke(
        storage,
        "forceKeyspaceFlush",
        new Object[] {keyspace, tables},
        new String[] {text, TEXTS});
    server.invoke(
        storage,
        "forceKeyspaceCompaction",
        new Object[] {false, keyspace, tables},
        new String[] {"boolean", text, TEXTS});
  }

  long pendingCompactions() throws JMException, IOException {
    return metric("Compaction,name=PendingTasks", "Value");
  }

  long liveBytes(String keyspace, String table) throws JMException, IOException {
    return metric(
        "Table,keyspace=" + keyspace + ",scope=" + table + ",name=LiveDiskSpaceUsed", "Count");
  }

  private long metric(String name, String attribute) throws JMException, IOException {
    return ((Number) server.getAttribute(new ObjectName(METRICS + name), attribute)).longValue();
  }

  @Override
  public void close() throws IOException {
    connector.close();
  }

  @Override
  public String toString() {
    return address;
  }
}
