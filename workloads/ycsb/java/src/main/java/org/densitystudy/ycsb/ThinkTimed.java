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
 * Another DB ({@code -p think.timed.db=CLASS}), and the time its client thread spends between two
 * operations: YCSB's own work for each, measured in us as THINK. It is the Z of Little's law, N = X
 * (R + Z), of a client that waits for no rate. A thread's first operation has none before it.
 */
public final class ThinkTimed extends DB {
  private static final String NAME = "THINK";
  private DB db;
  private Measurements measurements;
  private long endedNs;
  private boolean hasEnded;

  /** YCSB makes instances by name, then calls init. */
  public ThinkTimed() {}

  @Override
  public void init() throws DBException {
    String name = getProperties().getProperty("think.timed.db", "");
    try {
      db = WarmClient.instance(name, DB.class);
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

  /** Recording falls into the operation's latency, which YCSB takes outside of this: no time is lost. */
  private Status timed(Supplier<Status> operation) {
    if (hasEnded) {
      measurements.measure(NAME, (int) ((System.nanoTime() - endedNs) / 1000));
    }
    try {
      return operation.get();
    } finally {
      endedNs = System.nanoTime();
      hasEnded = true;
    }
  }
}
