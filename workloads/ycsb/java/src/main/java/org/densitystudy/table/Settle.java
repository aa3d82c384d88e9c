package org.densitystudy.table;

import java.io.IOException;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.densitystudy.table.TableState.State;

/**
 * flush-compact-settle --table T [--stalled-s 600]: flush, major-compact, and wait until no region
 * is compacted and the number of store files no longer changes. Compacting a large table takes hours: it fails
 * only if nothing was compacted for some time.
 */
record Settle(TableName table, int stalledS) implements Task {
  record Settled(String table, int storeFiles, long storeFileMib, int regions) {}

  private static final long POLL_MS = 250;

  /** A look asks each server for all its regions: after a second, looks take at most a tenth of the time. */
  private static final int PAUSE_PER_LOOK = 9;

  /** There can be a gap between two compactions, so one idle look is not enough. */
  private static final int QUIET_LOOKS = 2;

  static Task parse(Arguments arguments) {
    return new Settle(arguments.table(), arguments.number("stalled-s", 1, 600));
  }

  @Override
  public Settled run(Session session) throws Exception {
    Admin admin = session.admin();
    admin.flush(table);
    admin.majorCompact(table);
    Quiet quiet = new Quiet(QUIET_LOOKS);
    Progress progress = new Progress(stalledS, System.nanoTime());
    State state = TableState.read(admin, table);
    while (!quiet.after(state)) {
      long begun = System.nanoTime();
      if (progress.isStalled(state, begun)) {
        throw new TimeoutException(
            String.format(
                "%s not settled, and nothing compacted for %d s: %d regions compact, %d store files in %d regions",
                table, stalledS, state.compactingRegions(), state.storeFiles(), state.regions().size()));
      }
      state = TableState.read(admin, table);
      long tookMs = (System.nanoTime() - begun) / 1_000_000;
      Thread.sleep(Math.max(POLL_MS, PAUSE_PER_LOOK * (tookMs - POLL_MS)));
    }
    return new Settled(
        state.table(), state.storeFiles(), state.storeFileMib(), state.regions().size());
  }

  /** Whether cells were compacted, or files came or went, within some seconds. */
  static final class Progress {
    private final long stalledNs;
    private long lastNs;
    private long cells = -1;
    private int storeFiles = -1;

    Progress(int stalledS, long nowNs) {
      stalledNs = stalledS * 1_000_000_000L;
      lastNs = nowNs;
    }

    boolean isStalled(State state, long nowNs) {
      if (state.compactedCells() != cells || state.storeFiles() != storeFiles) {
        lastNs = nowNs;
      }
      cells = state.compactedCells();
      storeFiles = state.storeFiles();
      return nowNs - lastNs > stalledNs;
    }
  }

  /** Whether the table was idle and unchanged several times in succession. */
  static final class Quiet {
    private final int needed;
    private int looks;
    private int storeFiles = -1;

    Quiet(int needed) {
      this.needed = needed;
    }

    boolean after(State state) {
      boolean same = state.compactingRegions() == 0 && state.storeFiles() == storeFiles;
      looks = same ? looks + 1 : 0;
      storeFiles = state.storeFiles();
      return looks >= needed;
    }
  }
}
