package org.apache.hadoop.hbase;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Function;
import org.apache.hadoop.hbase.PerformanceEvaluation.TestBase;
import org.apache.hadoop.hbase.PerformanceEvaluation.TestOptions;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.Connection;

/**
 * The timed loop of HBase's PerformanceEvaluation with its own measurements, called again and again. It is in PE's package,
 * which opens the loop to no other.
 *
 * <p>All threads share one connection that stays open, as with --oneCon. Each thread sets up its test once: PE allocates some
 * 30 MB of histograms per thread, which a turn of a second would count and a run of minutes does not. For the same reason it
 * has no {@code Status}, which stops reports: each one copies and sorts the thread's histogram, and PE's random reads make one
 * at every tenth of their rows, whatever --period is. The other options have PE's presets.
 */
public final class Evaluation {
  private final ThreadLocal<TestBase> tests;

  private Evaluation(int rows, Function<TestOptions, TestBase> test) {
    tests = ThreadLocal.withInitial(() -> readied(test.apply(options(rows))));
  }

  /** The command randomRead, through HBase's blocking client. */
  public static Evaluation randomRead(Connection connection, int rows) {
    return new Evaluation(
        rows, options -> new PerformanceEvaluation.RandomReadTest(connection, options, null));
  }

  /** The command asyncRandomRead: HBase's asynchronous client, and each thread waits for its result. */
  public static Evaluation asyncRandomRead(AsyncConnection connection, int rows) {
    return new Evaluation(
        rows, options -> new PerformanceEvaluation.AsyncRandomReadTest(connection, options, null));
  }

  /** One of PE's keys: 26 digits. */
  public static byte[] key(int rows) {
    return PerformanceEvaluation.getRandomRow(rows);
  }

  /** In the calling thread. */
  public void run(int operations) throws IOException, InterruptedException {
    TestBase test = tests.get();
    test.opts.perClientRunRows = operations;
    test.testTimed();
  }

  private static TestOptions options(int rows) {
    TestOptions options = new TestOptions();
    options.nomapred = true;
    options.oneCon = true;
    options.totalRows = rows;
    return options;
  }

  private static TestBase readied(TestBase test) {
    try {
      test.testSetup();
      return test;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
