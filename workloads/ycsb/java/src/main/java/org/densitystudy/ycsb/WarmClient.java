package org.densitystudy.ycsb;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.htrace.core.HTraceConfiguration;
import org.apache.htrace.core.Tracer;
import site.ycsb.Client;
import site.ycsb.ClientThread;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.DBFactory;
import site.ycsb.Workload;
import site.ycsb.measurements.Measurements;

/**
 * YCSB's client with a warm-up: its JVM executes the workload before the schedule begins.
 *
 * <p>While the JIT compiles the client, it is slower than its target rate and falls behind its schedule;
 * then it exceeds that rate until it has caught up. For tens of seconds neither rate nor latency are as
 * configured. So for the first {@code -p client.warmup.s=N} seconds of the process, including its start,
 * YCSB's own threads execute the workload's operations at full speed, unmeasured. Then YCSB's client
 * starts with new measurements.
 *
 * <p>Inserts become updates of existing rows, because only the trial may add keys. A load has no rows yet:
 * its warm-up reads what it will insert, so that connections are open and most of the code is compiled.
 *
 * <p>One of several clients (-p client.barrier=PREFIX) then waits for the others: see {@link Barrier}.
 */
public final class WarmClient {
  static final String SECONDS = "client.warmup.s";
  private static final String BARRIER = "client.barrier";
  private static final long BARRIER_LIMIT_MS = 30 * 60_000;
  private static final long LAST_LOOK_MS = 2_000;

  private WarmClient() {}

  /** Takes YCSB's arguments. */
  public static void main(String[] arguments) throws Exception {
    Properties properties = parsed(arguments);
    long startedMs = ManagementFactory.getRuntimeMXBean().getStartTime();
    long untilMs = startedMs + 1000 * Long.parseLong(properties.getProperty(SECONDS, "0"));
    if (untilMs > startedMs) {
      warmUp(properties, untilMs);
    }
    String[] trial = arguments;
    String barrier = properties.getProperty(BARRIER);
    if (barrier != null) {
      if (untilMs <= startedMs) {
        connect(properties);
      }
      long startMs = new Barrier(barrier, BARRIER_LIMIT_MS).await();
      long lateMs = System.currentTimeMillis() - startMs;
      System.err.printf("hbase-client: left the barrier %d ms after the common start%n", lateMs);
      trial = with(arguments, TurnsWorkload.START + "=" + startMs);
    }
    Client.main(trial);
  }

  private static String[] with(String[] arguments, String property) {
    String[] more = Arrays.copyOf(arguments, arguments.length + 2);
    more[arguments.length] = "-p";
    more[arguments.length + 1] = property;
    return more;
  }

  /** Works until {@code untilMs} of the epoch. Returns the number of operations. */
  static long warmUp(Properties trial, long untilMs) throws Exception {
    Properties properties = unmeasured(trial);
    forget();
    Measurements.setProperties(properties);
    Workload workload = workload(properties);
    int count = Integer.parseInt(properties.getProperty(Client.THREAD_COUNT_PROPERTY, "1"));
    keep(properties);
    List<ClientThread> clients = clients(count, properties, workload);
    List<Thread> threads = clients.stream().map(Thread::new).toList();
    threads.forEach(Thread::start);
    Barrier.sleepUntil(untilMs - LAST_LOOK_MS);
    long compiledMs = compiledMs();
    Barrier.sleepUntil(untilMs);
    long lookMs = compiledMs() - compiledMs;
    workload.requestStop();
    for (Thread thread : threads) {
      thread.join();
    }
    workload.cleanup();
    forget();
    long done = clients.stream().mapToLong(ClientThread::getOpsDone).sum();
    System.err.printf(
        "hbase-client: warmed up by %d operations; compilers took %d ms of the last %d ms%n",
        done, lookMs, LAST_LOOK_MS);
    return done;
  }

  /** Without a warm-up: connects, so that the common start does not include it. */
  private static void connect(Properties trial) throws Exception {
    Properties properties = unmeasured(trial);
    Measurements.setProperties(properties);
    keep(properties);
    forget();
  }

  private static List<ClientThread> clients(int count, Properties properties, Workload workload)
      throws Exception {
    CountDownLatch ended = new CountDownLatch(count);
    Tracer tracer = new Tracer.Builder("warm-up").conf(HTraceConfiguration.EMPTY).build();
    String db = properties.getProperty(Client.DB_PROPERTY);
    List<ClientThread> clients = new ArrayList<>();
    for (int number = 0; number < count; number++) {
      ClientThread client =
          new ClientThread(
              DBFactory.newDB(db, properties, tracer), true, workload, properties, 0, 0, ended);
      client.setThreadId(number);
      client.setThreadCount(count);
      clients.add(client);
    }
    return clients;
  }

  /**
   * Keeps the threads' shared connection to HBase open until the JVM ends. A new connection was slow
   * for four seconds, and the client fell behind its schedule again.
   */
  private static void keep(Properties properties) throws Exception {
    DB keeper = WrappingWorkload.instance(properties.getProperty(Client.DB_PROPERTY), DB.class);
    keeper.setProperties(properties);
    keeper.init();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> close(keeper)));
  }

  private static void close(DB db) {
    try {
      db.cleanup();
    } catch (DBException failure) {
      System.err.println("hbase-client: " + failure);
    }
  }

  private static Workload workload(Properties properties) throws Exception {
    Workload workload =
        WrappingWorkload.instance(properties.getProperty(Client.WORKLOAD_PROPERTY), Workload.class);
    workload.init(properties);
    return workload;
  }

  static Properties unmeasured(Properties trial) {
    Properties properties = new Properties();
    properties.putAll(trial);
    double writes = share(trial, "updateproportion") + share(trial, "insertproportion");
    properties.setProperty("updateproportion", Double.toString(writes));
    properties.setProperty("insertproportion", "0");
    if ("false".equals(trial.getProperty(Client.DO_TRANSACTIONS_PROPERTY))) {
      properties.setProperty("readproportion", "1");
      properties.setProperty("updateproportion", "0");
    }
    properties.setProperty("hdrhistogram.fileoutput", "false");
    for (String wrapper : List.of(ScheduledWorkload.WORKLOAD, TurnsWorkload.WORKLOAD)) {
      String wrapped = trial.getProperty(wrapper);
      if (wrapped != null) { // at full speed, and at any time
        properties.setProperty(Client.WORKLOAD_PROPERTY, wrapped);
      }
    }
    properties.remove(StudyWorkload.INSERTS_LOG);
    return properties;
  }

  private static double share(Properties properties, String name) {
    return Double.parseDouble(properties.getProperty(name, "0"));
  }

  private static long compiledMs() {
    return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
  }

  static Properties parsed(String[] arguments) throws ReflectiveOperationException {
    Method parse = Client.class.getDeclaredMethod("parseArguments", String[].class);
    parse.setAccessible(true);
    return (Properties) parse.invoke(null, (Object) arguments);
  }

  /** YCSB creates one Measurements per JVM; discard that of the warm-up. */
  static void forget() throws ReflectiveOperationException {
    Field only = Measurements.class.getDeclaredField("singleton");
    only.setAccessible(true);
    only.set(null, null);
  }
}
