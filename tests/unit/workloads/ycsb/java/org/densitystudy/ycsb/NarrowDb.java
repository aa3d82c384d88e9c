package org.densitystudy.ycsb;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import site.ycsb.Status;

/**
 * A store with a known answer: it answers any number of requests after narrow.us each (-p, required). With -p
 * narrow=true, the client is the bottleneck: its threads share a connection that has one request at a time.
 */
public final class NarrowDb extends AnsweringDb {
  private static final ReentrantLock CONNECTION = new ReentrantLock(true);
  private long serviceNs;
  private boolean narrow;

  @Override
  public void init() {
    serviceNs =
        TimeUnit.MICROSECONDS.toNanos(Long.parseLong(getProperties().getProperty("narrow.us")));
    narrow = Boolean.parseBoolean(getProperties().getProperty("narrow"));
  }

  @Override
  Status answer() {
    if (!narrow) {
      return serve();
    }
    CONNECTION.lock();
    try {
      return serve();
    } finally {
      CONNECTION.unlock();
    }
  }

  private Status serve() {
    long end = System.nanoTime() + serviceNs;
    for (long left = serviceNs; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    return Status.OK;
  }
}
