package org.densitystudy.ycsb;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/**
 * A store with a known answer: it answers at once, but stalls for stall.ms at the beginning of
 * every stall.every.ms (-p, both required), for all threads of a client.
 */
public final class StallingDb extends DB {
  private static final long ORIGIN_NS = System.nanoTime();
  private long stallNs;
  private long everyNs;

  @Override
  public void init() {
    stallNs = nanoseconds("stall.ms");
    everyNs = nanoseconds("stall.every.ms");
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    return answer();
  }

  @Override
  public Status scan(
      String table,
      String key,
      int rows,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return answer();
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return answer();
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return answer();
  }

  @Override
  public Status delete(String table, String key) {
    return answer();
  }

  private Status answer() {
    long now = System.nanoTime();
    long stalled = (now - ORIGIN_NS) % everyNs;
    long end = now + stallNs - stalled;
    for (long left = end - now; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    return Status.OK;
  }

  private long nanoseconds(String property) {
    return TimeUnit.MILLISECONDS.toNanos(Long.parseLong(getProperties().getProperty(property)));
  }
}
