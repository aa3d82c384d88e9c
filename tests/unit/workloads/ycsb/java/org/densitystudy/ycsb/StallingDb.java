package org.densitystudy.ycsb;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import site.ycsb.Status;

/**
 * A store with a known answer: it answers at once, but stalls for stall.ms at the beginning of
 * every stall.every.ms (-p, both required), for all threads of a client.
 */
public final class StallingDb extends AnsweringDb {
  private static final long ORIGIN_NS = System.nanoTime();
  private long stallNs;
  private long everyNs;

  @Override
  public void init() {
    stallNs = nanoseconds("stall.ms");
    everyNs = nanoseconds("stall.every.ms");
  }

  @Override
  Status answer() {
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
