package org.densitystudy.ycsb;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import site.ycsb.Status;

/**
 * A store of known capacity, for all threads of a client: a token bucket of bucket.rate operations
 * per second (-p, required). bucket.noise is the standard deviation of the rate, as a share of it,
 * from one tenth of a second to the next.
 */
public final class BucketDb extends AnsweringDb {
  private static final long BURST_NS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long EVERY_NS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final Object LOCK = new Object();
  private static final Random RANDOM = new Random(1);
  private static long freeNs;
  private static long changesNs;
  private static double factor = 1;
  private double rate;
  private double noise;

  @Override
  public void init() {
    rate = Double.parseDouble(getProperties().getProperty("bucket.rate"));
    noise = Double.parseDouble(getProperties().getProperty("bucket.noise", "0"));
  }

  @Override
  Status answer() {
    long turn = turn();
    for (long left = turn - System.nanoTime(); left > 0; left = turn - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    return Status.OK;
  }

  private long turn() {
    synchronized (LOCK) {
      long now = System.nanoTime();
      if (now >= changesNs) {
        changesNs = now + EVERY_NS;
        factor = Math.max(0.1, 1 + noise * RANDOM.nextGaussian());
      }
      freeNs = Math.max(freeNs, now - BURST_NS) + (long) (1e9 / (rate * factor));
      return freeNs;
    }
  }
}
