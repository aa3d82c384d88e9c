package org.densitystudy.ycsb;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * One connection per JVM, opened by the first thread and closed by the last. HBase's connections are
 * heavy and meant to be shared. One per thread would measure sockets and caches that no application
 * has.
 */
final class SharedConnection {
  private static final Failures FAILURES = new Failures(System.err);
  private static AsyncConnection connection;
  private static int holders;

  private SharedConnection() {}

  /**
   * The connection, with the table's regions already located, so that the first operations do not
   * include the look-up.
   *
   * @throws IOException if HBase does not answer, or has no such table or family
   */
  static synchronized AsyncConnection acquire(ClientOptions options) throws IOException {
    if (holders == 0) {
      connection = open(options);
    }
    holders++;
    return connection;
  }

  /** The last release also reports all failures. */
  static synchronized void release() throws IOException {
    if (--holders == 0) {
      FAILURES.report();
      connection.close();
    }
  }

  static Failures failures() {
    return FAILURES;
  }

  /** Waits for a result of HBase's asynchronous client. */
  static <T> T await(CompletableFuture<T> pending) throws IOException {
    try {
      return pending.get();
    } catch (ExecutionException failure) {
      throw failure.getCause() instanceof IOException cause ? cause : new IOException(failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for HBase", interrupted);
    }
  }

  private static AsyncConnection open(ClientOptions options) throws IOException {
    Configuration configuration = HBaseConfiguration.create();
    options.applyTo(configuration);
    AsyncConnection opened = await(ConnectionFactory.createAsyncConnection(configuration));
    TableName table = TableName.valueOf(options.table());
    try {
      if (!await(opened.getAdmin().getDescriptor(table)).hasColumnFamily(options.family())) {
        String family = Bytes.toString(options.family());
        throw new IOException("table " + table + " has no family " + family);
      }
      await(opened.getRegionLocator(table).getAllRegionLocations());
      return opened;
    } catch (IOException | RuntimeException failure) {
      opened.close();
      throw failure;
    }
  }
}
