package org.densitystudy.ycsb;

import java.util.Properties;
import java.util.concurrent.TimeUnit;
import site.ycsb.DB;
import site.ycsb.WorkloadException;

/**
 * Another workload ({@code -p turns.workload=CLASS}) that works only in its turns; between them, the clients
 * of another cluster on the same hosts work. An operation that began in a turn ends, whatever the time.
 *
 * <p>{@code -p turns=BEGIN:END;...}: in ms from the common start of the clients (see {@link Barrier}), in
 * order. After the last turn, threads wait for the end of the run.
 */
public final class TurnsWorkload extends WrappingWorkload {
  static final String WORKLOAD = "turns.workload";
  static final String TURNS = "turns";
  /** The common start, in ms of the epoch: {@link WarmClient} adds it to YCSB's arguments. */
  static final String START = "turns.start.ms";

  private static final ThreadLocal<Long> WAITED_NS = ThreadLocal.withInitial(() -> 0L);

  private long[] edgesMs;

  @Override
  public void init(Properties properties) throws WorkloadException {
    wrap(properties, WORKLOAD);
    try {
      long startMs = Long.parseLong(properties.getProperty(START, ""));
      edgesMs = edges(properties.getProperty(TURNS, ""), startMs);
    } catch (IllegalArgumentException wrong) {
      throw new WorkloadException(TURNS + ", " + START + ": " + wrong.getMessage(), wrong);
    }
    workload.init(properties);
  }

  /** Begin and end of each turn, in turn, in ms of the epoch. */
  static long[] edges(String text, long startMs) {
    String[] turns = text.split(";", -1);
    long[] edges = new long[2 * turns.length];
    for (int turn = 0; turn < turns.length; turn++) {
      String[] ends = turns[turn].split(":", -1);
      if (ends.length != 2) {
        throw new IllegalArgumentException("'" + turns[turn] + "' is not BEGIN:END");
      }
      for (int end = 0; end < 2; end++) {
        edges[2 * turn + end] = startMs + Long.parseLong(ends[end]);
      }
    }
    for (int edge = 1; edge < edges.length; edge++) {
      if (edges[edge] <= edges[edge - 1]) {
        throw new IllegalArgumentException("its times are not in order: " + text);
      }
    }
    return edges;
  }

  /** How many ms from {@code nowMs} the next turn begins; 0 within a turn, and the largest after the last. */
  static long untilTurnMs(long[] edges, long nowMs) {
    for (int edge = 0; edge < edges.length; edge += 2) {
      if (nowMs < edges[edge + 1]) {
        return Math.max(0, edges[edge] - nowMs);
      }
    }
    return Long.MAX_VALUE;
  }

  /** For how long this thread waited for a turn since the last call, in ns: it is not the client's own time. */
  static long takeWaitedNs() {
    long waitedNs = WAITED_NS.get();
    WAITED_NS.set(0L);
    return waitedNs;
  }

  @Override
  public Object initThread(Properties properties, int thread, int threads)
      throws WorkloadException {
    return workload.initThread(properties, thread, threads);
  }

  @Override
  public boolean doInsert(DB db, Object state) {
    return workload.doInsert(db, state);
  }

  @Override
  public boolean doTransaction(DB db, Object state) {
    return waitedForTurn() && workload.doTransaction(db, state);
  }

  /** Whether it is this client's turn; false if the run ends first. */
  private boolean waitedForTurn() {
    if (untilTurnNs() == 0) {
      return true;
    }
    long beganNs = System.nanoTime();
    boolean hasCome = waited(this::untilTurnNs);
    WAITED_NS.set(WAITED_NS.get() + System.nanoTime() - beganNs);
    return hasCome;
  }

  private long untilTurnNs() {
    return TimeUnit.MILLISECONDS.toNanos(untilTurnMs(edgesMs, System.currentTimeMillis()));
  }

  @Override
  public void cleanup() throws WorkloadException {
    workload.cleanup();
  }
}
