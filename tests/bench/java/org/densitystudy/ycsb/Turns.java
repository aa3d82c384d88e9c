package org.densitystudy.ycsb;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import org.apache.htrace.core.Tracer;
import site.ycsb.ClientThread;
import site.ycsb.DB;
import site.ycsb.DBFactory;
import site.ycsb.Workload;
import site.ycsb.measurements.Measurements;

/**
 * Several ways to do the same operations, in turns of a second or two within one JVM: other load of the machine affects
 * all of them equally, unlike whole runs of minutes one after the other (their rates scatter by a third on a shared
 * machine).
 */
public final class Turns {
  /** One of the ways, with its number of operations per thread. */
  public interface Variant {
    void run(int operations) throws Exception;
  }

  private final int threads;
  private final ExecutorService pool;

  public Turns(int threads) {
    this.threads = threads;
    this.pool = Executors.newFixedThreadPool(threads);
  }

  /** The properties of a YCSB run: words KEY=VALUE, from the given one on. */
  public static Properties properties(String[] words, int from) {
    Properties properties = new Properties();
    for (int i = from; i < words.length; i++) {
      String[] pair = words[i].split("=", 2);
      properties.setProperty(pair[0], pair[1]);
    }
    return properties;
  }

  /**
   * Prints one line per round: the operations per second of each variant. All do the same number of operations, as many as
   * the slowest does in {@code sliceS}. In each round another variant is first.
   */
  public void compare(List<Variant> variants, double warmUpS, int rounds, double sliceS) throws Exception {
    int operations = 200;
    for (double left = warmUpS; left > 0; ) {
      double slowest = Double.MAX_VALUE;
      for (Variant variant : variants) {
        double rate = rate(variant, operations);
        left -= operations * threads / rate;
        slowest = Math.min(slowest, rate);
      }
      operations = (int) Math.max(1, slowest * sliceS / threads);
    }
    for (int round = 0; round < rounds; round++) {
      double[] rates = new double[variants.size()];
      for (int i = 0; i < variants.size(); i++) {
        int which = (round + i) % variants.size();
        rates[which] = rate(variants.get(which), operations);
      }
      System.out.println(
          DoubleStream.of(rates)
              .mapToObj(rate -> String.format(Locale.ROOT, "%.1f", rate))
              .collect(Collectors.joining(" ")));
    }
  }

  private double rate(Variant variant, int operations) throws Exception {
    long beganNs = System.nanoTime();
    variant.run(operations);
    return 1e9 * operations * threads / (System.nanoTime() - beganNs);
  }

  /** As `site.ycsb.Client` runs it; its status thread takes the interval's summary once a second. */
  public Variant binding(String db, Properties properties) throws Exception {
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

  /** {@code work} in all threads. */
  public Variant loop(Variant work) {
    return operations -> {
      Callable<Object> call =
          () -> {
            work.run(operations);
            return null;
          };
      finish(Collections.nCopies(threads, call));
    };
  }

  private void finish(List<Callable<Object>> calls) throws Exception {
    for (Future<Object> future : pool.invokeAll(calls)) {
      future.get();
    }
  }
}
