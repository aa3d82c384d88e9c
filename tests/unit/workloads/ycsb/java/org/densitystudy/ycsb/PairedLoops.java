package org.densitystudy.ycsb;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.htrace.core.Tracer;
import site.ycsb.ClientThread;
import site.ycsb.DB;
import site.ycsb.DBFactory;
import site.ycsb.Workload;
import site.ycsb.measurements.Measurements;

/**
 * The binding under YCSB's own threads, and {@link HandLoop} through both of HBase's clients, in
 * turns of a second or two within one JVM: other load of the machine affects all three equally,
 * unlike whole runs of minutes one after the other (their rates scatter by a third on a
 * shared machine).
 *
 * <p>PairedLoops THREADS WARM_UP_S ROUNDS SLICE_S DB KEY=VALUE..., the properties of a YCSB run.
 * Prints one line per round: operations per second of the binding, of the blocking client's loop,
 * of the asynchronous client's. All run the same number of operations.
 */
final class PairedLoops {
  /** One of the three, with its number of operations per thread. */
  interface Arm {
    void run(int operations) throws Exception;
  }

  private final int threads;
  private final ExecutorService pool;

  private PairedLoops(int threads) {
    this.threads = threads;
    this.pool = Executors.newFixedThreadPool(threads);
  }

  public static void main(String[] words) throws Exception {
    Properties properties = new Properties();
    for (int i = 5; i < words.length; i++) {
      String[] pair = words[i].split("=", 2);
      properties.setProperty(pair[0], pair[1]);
    }
    TableName table = TableName.valueOf(properties.getProperty("table"));
    var configuration = HBaseConfiguration.create();
    try (Connection blocking = ConnectionFactory.createConnection(configuration);
        AsyncConnection async = ConnectionFactory.createAsyncConnection(configuration).get()) {
      blocking.getRegionLocator(table).getAllRegionLocations();
      async.getRegionLocator(table).getAllRegionLocations().get();
      PairedLoops loops = new PairedLoops(Integer.parseInt(words[0]));
      HandLoop hand = hand(properties);
      List<Arm> arms =
          List.of(
              loops.binding(words[4], properties),
              count -> loops.all(() -> hand.run(HandLoop.of(blocking.getTable(table)), count)),
              count -> loops.all(() -> hand.run(HandLoop.waiting(async.getTable(table)), count)));
      loops.compare(arms, seconds(words[1]), Integer.parseInt(words[2]), seconds(words[3]));
    }
    System.exit(0);
  }

  /** Each arm runs first in every third round. */
  private void compare(List<Arm> arms, double warmUpS, int rounds, double sliceS) throws Exception {
    int operations = 200;
    for (double left = warmUpS; left > 0; ) {
      double slowest = Double.MAX_VALUE;
      for (Arm arm : arms) {
        double rate = rate(arm, operations);
        left -= operations * threads / rate;
        slowest = Math.min(slowest, rate);
      }
      operations = (int) Math.max(1, slowest * sliceS / threads);
    }
    for (int round = 0; round < rounds; round++) {
      double[] rates = new double[arms.size()];
      for (int i = 0; i < arms.size(); i++) {
        int which = (round + i) % arms.size();
        rates[which] = rate(arms.get(which), operations);
      }
      System.out.printf(Locale.ROOT, "%.1f %.1f %.1f%n", rates[0], rates[1], rates[2]);
    }
  }

  private double rate(Arm arm, int operations) throws Exception {
    long beganNs = System.nanoTime();
    arm.run(operations);
    return 1e9 * operations * threads / (System.nanoTime() - beganNs);
  }

  /** As `site.ycsb.Client` runs it; its status thread takes the interval's summary once a second. */
  private Arm binding(String db, Properties properties) throws Exception {
    Measurements.setProperties(properties);
    Workload workload =
        Class.forName(properties.getProperty("workload"))
            .asSubclass(Workload.class)
            .getDeclaredConstructor()
            .newInstance();
    workload.init(properties);
    Tracer tracer = new Tracer.Builder("binding").build();
    DB keepsTheConnection = DBFactory.newDB(db, properties, tracer);
    keepsTheConnection.init();
    return operations -> {
      CountDownLatch ended = new CountDownLatch(threads);
      List<ClientThread> clients = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        DB own = DBFactory.newDB(db, properties, tracer);
        ClientThread client =
            new ClientThread(own, true, workload, properties, operations, -1, ended);
        client.setThreadId(i);
        client.setThreadCount(threads);
        clients.add(client);
      }
      finish(clients.stream().map(Executors::callable).toList());
      Measurements.getMeasurements().getSummary();
      for (ClientThread client : clients) {
        if (client.getOpsDone() != operations) {
          throw new IllegalStateException("a client thread ended before its operations were done");
        }
      }
    };
  }

  /** The work of all threads of a loop. */
  private interface Work {
    void run() throws Exception;
  }

  private void all(Work work) throws Exception {
    List<Callable<Object>> calls = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      calls.add(
          () -> {
            work.run();
            return null;
          });
    }
    finish(calls);
  }

  private void finish(List<Callable<Object>> calls) throws Exception {
    for (Future<Object> future : pool.invokeAll(calls)) {
      future.get();
    }
  }

  private static HandLoop hand(Properties properties) {
    double inserts = share(properties, "insert");
    long operations = Long.parseLong(properties.getProperty("operationcount"));
    return new HandLoop(
        Bytes.toBytes(properties.getProperty("columnfamily")),
        Long.parseLong(properties.getProperty("recordcount")),
        (long) (operations * inserts * 2.0), // CoreWorkload.init
        share(properties, "read"),
        inserts,
        Integer.parseInt(properties.getProperty("maxscanlength")));
  }

  private static double share(Properties properties, String kind) {
    return Double.parseDouble(properties.getProperty(kind + "proportion", "0"));
  }

  private static double seconds(String text) {
    return Double.parseDouble(text);
  }
}
