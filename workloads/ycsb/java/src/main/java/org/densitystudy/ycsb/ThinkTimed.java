package org.densitystudy.ycsb;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.function.Supplier;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.measurements.Measurements;

/**
 * Wraps another DB ({@code -p think.timed.db=CLASS}) and measures the time between two operations of a
 * client thread, in us, as THINK: YCSB's own work per operation. It is Z in Little's law, N = X (R + Z),
 * for a client without a target rate. The first operation of a thread has no THINK, and waiting for a turn
 * ({@link TurnsWorkload}) is none.
 */
public final class ThinkTimed extends DB {
  private static final String NAME = "THINK";
  private DB db;
  private Measurements measurements;
  private long endedNs;
  private boolean hasEnded;

  /** YCSB creates instances by name, then calls init. */
  public ThinkTimed() {}

  @Override
  public void init() throws DBException {
    String name = getProperties().getProperty("think.timed.db", "");
    try {
      db = WrappingWorkload.instance(name, DB.class);
    } catch (ReflectiveOperationException | ClassCastException wrong) {
      throw new DBException("think.timed.db=" + name + " is no DB of YCSB", wrong);
    }
    measurements = Measurements.getMeasurements();
    db.setProperties(getProperties());
    db.init();
  }

  @Override
  public void cleanup() throws DBException {
    db.cleanup();
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    return timed(() -> db.read(table, key, fields, result));
  }

  @Override
  public Status scan(
      String table,
      String key,
      int rows,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return timed(() -> db.scan(table, key, rows, fields, result));
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return timed(() -> db.update(table, key, values));
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return timed(() -> db.insert(table, key, values));
  }

  @Override
  public Status delete(String table, String key) {
    return timed(() -> db.delete(table, key));
  }

  /** YCSB measures latency around this method, so it includes the recording: no time is lost. */
  private Status timed(Supplier<Status> operation) {
    long waitedNs = TurnsWorkload.takeWaitedNs();
    if (hasEnded) {
      measurements.measure(NAME, (int) ((System.nanoTime() - endedNs - waitedNs) / 1000));
    }
    try {
      return operation.get();
    } finally {
      endedNs = System.nanoTime();
      hasEnded = true;
    }
  }
}
