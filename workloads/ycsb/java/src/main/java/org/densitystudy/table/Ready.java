package org.densitystudy.table;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * ready --regionservers N --deadline-s S [--namespace NAME]: poll until N RegionServers are live and a
 * row can be written in the namespace (default: that of HBase) and read back. For that, the master must
 * be initialized and hbase:meta assigned.
 */
record Ready(int regionservers, int deadlineS, TableName probe) implements Task {
  /** Seconds from the start of this command until enough servers were live, and until its end. */
  record Answer(List<String> regionservers, double liveS, double probedS) {}

  private static final String PROBE = "density_probe";
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final long POLL_MS = 200;

  static Task parse(Arguments arguments) {
    int regionservers = arguments.number("regionservers", 1);
    int deadlineS = arguments.number("deadline-s", 1);
    String namespace = arguments.has("namespace") ? arguments.option("namespace") : "default";
    return new Ready(regionservers, deadlineS, TableName.valueOf(namespace, PROBE));
  }

  @Override
  public Answer run(Session session) throws Exception {
    try (Session impatient = new Session(impatient(session.configuration()));
        Attempt attempt = new Attempt()) {
      List<String> servers = attempt.until("HBase", () -> live(impatient));
      double liveS = attempt.elapsedS();
      attempt.until("a row written and read back", () -> probe(impatient, attempt));
      return new Answer(servers, liveS, attempt.elapsedS());
    }
  }

  /** One attempt must not use up the deadline: it fails within a second or two and is repeated. */
  private static Configuration impatient(Configuration patient) {
    Configuration configuration = new Configuration(patient);
    configuration.setInt("hbase.client.retries.number", 1);
    configuration.setInt("hbase.rpc.timeout", 5_000);
    configuration.setInt("hbase.client.operation.timeout", 10_000);
    configuration.setInt("hbase.client.meta.operation.timeout", 5_000);
    configuration.setInt("zookeeper.recovery.retry", 0);
    configuration.setInt("zookeeper.recovery.retry.intervalmill", 100);
    return configuration;
  }

  private List<String> live(Session session) throws IOException {
    List<String> names =
        Session.liveServers(session.admin()).stream()
            .map(server -> server.getServerName().getServerName())
            .toList();
    if (names.size() < regionservers) {
      throw new IOException(
          String.format("%d of %d RegionServers live: %s", names.size(), regionservers, names));
    }
    return names;
  }

  private boolean probe(Session session, Attempt attempt) throws Exception {
    Admin admin = session.admin();
    if (admin.tableExists(probe)) {
      drop(admin, attempt); // left by an attempt that timed out or by a killed process
    }
    var descriptor =
        TableDescriptorBuilder.newBuilder(probe)
            .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
            .build();
    attempt.within(admin.createTableAsync(descriptor));
    try (Table table = session.connection().getTable(probe)) {
      byte[] row = Bytes.toBytes("row");
      table.put(new Put(row).addColumn(FAMILY, row, row));
      if (!Bytes.equals(row, table.get(new Get(row)).getValue(FAMILY, row))) {
        throw new IOException("the row written to " + probe + " was not read back");
      }
    }
    drop(admin, attempt);
    return true;
  }

  private void drop(Admin admin, Attempt attempt) throws Exception {
    if (admin.isTableEnabled(probe)) {
      attempt.within(admin.disableTableAsync(probe));
    }
    attempt.within(admin.deleteTableAsync(probe));
  }

  /** Repeats a step until it succeeds or the deadline has passed; then throws its last failure. */
  private final class Attempt implements AutoCloseable {
    private final long began = System.nanoTime();

    /** HBase's client may exceed its timeouts. Calls in another thread keep the deadline anyway. */
    private final ExecutorService worker = Executors.newSingleThreadExecutor();

    double elapsedS() {
      return (System.nanoTime() - began) / 1e9;
    }

    <T> T until(String what, Callable<T> step) throws Exception {
      Throwable last = new TimeoutException("no answer");
      while (elapsedS() < deadlineS) {
        try {
          return within(worker.submit(step));
        } catch (ExecutionException failure) {
          last = failure.getCause();
        } catch (TimeoutException late) {
          break;
        }
        Thread.sleep(POLL_MS);
      }
      String message = String.format("no %s within %d s: %s", what, deadlineS, last.getMessage());
      throw (Exception) new TimeoutException(message).initCause(last);
    }

    <T> T within(Future<T> pending) throws Exception {
      long leftMs = (long) (1000 * (deadlineS - elapsedS()));
      return pending.get(Math.max(1, leftMs), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
      worker.shutdownNow();
    }
  }
}
