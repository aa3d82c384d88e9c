package org.densitystudy.ycsb;

import java.io.PrintStream;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts failed operations by kind, and prints the first of each kind with its stack trace. */
public final class Failures {
  private final ConcurrentHashMap<String, LongAdder> counts = new ConcurrentHashMap<>();
  private final PrintStream out;
  private final String who;

  Failures(PrintStream out) {
    this(out, "hbase-client");
  }

  /** {@code who} begins each line. */
  public Failures(PrintStream out, String who) {
    this.out = out;
    this.who = who;
  }

  /** Counts one failed operation. */
  public void count(String operation, Throwable failure) {
    counts.computeIfAbsent(operation + " " + kind(failure), kind -> first(kind, failure)).increment();
  }

  /** Prints the totals since the last call, one line per kind. */
  public void report() {
    Map<String, LongAdder> sorted = new TreeMap<>(counts);
    counts.clear();
    sorted.forEach((kind, count) -> out.println(who + ": " + count + " x " + kind));
  }

  /** The classes of the exception and of its root cause: the outer one may only wrap retries. */
  private static String kind(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String outer = failure.getClass().getName();
    return root == failure ? outer : outer + " <- " + root.getClass().getName();
  }

  private LongAdder first(String kind, Throwable failure) {
    synchronized (out) {
      out.println(who + ": first " + kind);
      failure.printStackTrace(out);
    }
    return new LongAdder();
  }
}
