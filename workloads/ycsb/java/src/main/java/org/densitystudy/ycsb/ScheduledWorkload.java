package org.densitystudy.ycsb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Properties;
import site.ycsb.DB;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;

/**
 * Another workload ({@code -p schedule.workload=CLASS}) at a rate that changes with time, in an open loop:
 * each operation has a time at which it is due, whenever the one before it ends. Intended latency counts
 * from that time, as with YCSB's own {@code -target}, which has one rate only.
 *
 * <p>{@code -p schedule.pieces}: see {@link LoadSchedule}. Thread k of n does the operations k, k + n, k +
 * 2n, ... {@code -p schedule.log=PATH}: the file that gets, for each second from the start of the
 * schedule, its start (ms of the epoch), its piece, and the operations due in it.
 */
public final class ScheduledWorkload extends WrappingWorkload {
  static final String WORKLOAD = "schedule.workload";

  private LoadSchedule schedule;
  private Measurements measurements;
  private String log;
  private boolean begun;
  private long startNs;
  private long startEpochMs;

  /** A thread: its next operation, and the piece of the last one. */
  private static final class Turn {
    private final Object state;
    private final int step;
    private long operation;
    private int piece;

    Turn(Object state, int thread, int threads) {
      this.state = state;
      this.operation = thread;
      this.step = threads;
    }
  }

  @Override
  public void init(Properties properties) throws WorkloadException {
    wrap(properties, WORKLOAD);
    try {
      schedule = LoadSchedule.parse(properties.getProperty("schedule.pieces", ""));
    } catch (IllegalArgumentException wrong) {
      throw new WorkloadException("schedule.pieces: " + wrong.getMessage(), wrong);
    }
    log = properties.getProperty("schedule.log");
    measurements = Measurements.getMeasurements();
    workload.init(properties);
  }

  @Override
  public Object initThread(Properties properties, int thread, int threads)
      throws WorkloadException {
    return new Turn(workload.initThread(properties, thread, threads), thread, threads);
  }

  @Override
  public boolean doInsert(DB db, Object turn) {
    return workload.doInsert(db, ((Turn) turn).state);
  }

  @Override
  public boolean doTransaction(DB db, Object thread) {
    Turn turn = (Turn) thread;
    long beganNs = startNs();
    turn.piece = schedule.pieceOf(turn.operation, turn.piece);
    double dueS = schedule.dueS(turn.operation, turn.piece);
    long dueNs = beganNs + (dueS > schedule.seconds() ? Long.MAX_VALUE / 2 : Math.round(dueS * 1e9));
    if (!waited(() -> dueNs - System.nanoTime())) {
      return false;
    }
    turn.operation += turn.step;
    measurements.setIntendedStartTimeNs(dueNs);
    return workload.doTransaction(db, turn.state);
  }

  /** The common start of all threads: the first operation of any. */
  private synchronized long startNs() {
    if (!begun) {
      begun = true;
      startNs = System.nanoTime();
      startEpochMs = System.currentTimeMillis();
    }
    return startNs;
  }

  @Override
  public void cleanup() throws WorkloadException {
    workload.cleanup();
    if (log == null || !begun) {
      return;
    }
    try {
      Files.writeString(Path.of(log), asked());
    } catch (IOException failure) {
      throw new WorkloadException("the schedule could not be written to " + log, failure);
    }
  }

  /** The text of the log. A second that two pieces share counts for the earlier one. */
  String asked() {
    StringBuilder text = new StringBuilder("epoch_ms,piece,operations\n");
    int piece = 0;
    for (int second = 0; second < Math.ceil(schedule.seconds()); second++) {
      while (piece < schedule.size() - 1 && second >= schedule.endS(piece)) {
        piece++;
      }
      double asked = schedule.operationsBefore(second + 1) - schedule.operationsBefore(second);
      text.append(
          String.format(
              Locale.ROOT, "%d,%d,%.3f%n", startEpochMs + 1000L * second, piece, asked));
    }
    return text.toString();
  }
}
