package org.densitystudy.table;

import java.io.IOException;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.densitystudy.table.TableState.State;

/**
 * flush-compact-settle --table T [--deadline-s 600]: flush, major-compact, and wait until no region
 * is compacted and the number of store files no longer changes.
 */
record Settle(TableName table, int deadlineS) implements Task {
  record Settled(String table, int storeFiles, long storeFileMib, int regions) {}

  private static final long POLL_MS = 250;

  /** There can be a gap between two compactions, so one idle look is not enough. */
  private static final int QUIET_LOOKS = 2;

  static Task parse(Arguments arguments) {
    return new Settle(
        arguments.table(), arguments.number("deadline-s", 1, 600));
  }

  @Override
  public Settled run(Session session) throws Exception {
    Admin admin = session.admin();
    long deadline = System.nanoTime() + deadlineS * 1_000_000_000L;
    admin.flush(table);
    admin.majorCompact(table);
    Quiet quiet = new Quiet(QUIET_LOOKS);
    State state = TableState.read(admin, table);
    while (!quiet.after(state)) {
      if (System.nanoTime() > deadline) {
        throw new TimeoutException(
            String.format(
                "%s not settled after %d s: %d regions compact, %d store files in %d regions",
                table, deadlineS, state.compactingRegions(), state.storeFiles(),
                state.regions().size()));
      }
      Thread.sleep(POLL_MS);
      state = TableState.read(admin, table);
    }
    return new Settled(
        state.table(), state.storeFiles(), state.storeFileMib(), state.regions().size());
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
