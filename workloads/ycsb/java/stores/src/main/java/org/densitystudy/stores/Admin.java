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

  /** Polls until nothing is missing. IllegalStateException with what still is, after a minute. */
  static void await(Callable<String> missing) throws Exception {
    long untilMs = System.currentTimeMillis() + 60_000;
    for (String what = missing.call(); !what.isEmpty(); what = missing.call()) {
      if (System.currentTimeMillis() > untilMs) {
        throw new IllegalStateException(what);
      }
      Thread.sleep(100);
    }
  }
}
