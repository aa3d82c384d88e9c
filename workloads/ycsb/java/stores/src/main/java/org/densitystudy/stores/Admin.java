package org.densitystudy.stores;

import java.util.Map;
import java.util.concurrent.Callable;
import site.ycsb.DBException;

/** What a trial does to a store besides YCSB's operations. */
public interface Admin extends AutoCloseable {
  /** Removes all rows; the store is ready for a load of the table. */
  void empty(String table) throws Exception;

  /** Returns when the store has ended what it does after a load: flushes, compactions, rewrites. */
  void settle(String table) throws Exception;

  /** Facts for the record: {@code rows}, and what else the store shows. Values are numbers or texts. */
  Map<String, Object> state(String table) throws Exception;

  @Override
  void close() throws DBException;

  /** Polls until nothing is missing. IllegalStateException with what still is, after a minute without a change of it. */
  static void await(Callable<String> missing) throws Exception {
    await(missing, 60_000);
  }

  /** A large cluster may need hours, in which less and less is missing: only standing still is a fault. */
  static void await(Callable<String> missing, long stillMs) throws Exception {
    String before = "";
    long untilMs = 0;
    for (String what = missing.call(); !what.isEmpty(); what = missing.call()) {
      if (!what.equals(before)) {
        before = what;
        untilMs = System.currentTimeMillis() + stillMs;
      } else if (System.currentTimeMillis() > untilMs) {
        throw new IllegalStateException(what);
      }
      Thread.sleep(100);
    }
  }
}
