package org.densitystudy.ycsb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;

/**
 * Which inserts HBase has acknowledged, as ranges of record numbers, so that all of them can be read back
 * after a fault. A bit per insert: a million of them take 125 kB.
 *
 * <p>The workload tells the number of each key that it makes, and the binding which key was acknowledged.
 */
final class InsertLog {
  private static volatile InsertLog open;

  private record Named(long number, String key) {}

  private final ThreadLocal<Named> named = new ThreadLocal<>();
  private final BitSet acknowledged = new BitSet();

  private InsertLog() {}

  /** Begins a log, which {@link #acknowledged(String)} then fills. */
  static InsertLog begin() {
    InsertLog log = new InsertLog();
    open = log;
    return log;
  }

  /** The calling thread has made the key of its insert {@code number}, from 0; negative: of a loaded row. */
  void names(long number, String key) {
    named.set(new Named(number, key));
  }

  /** HBase has acknowledged an insert of the calling thread. Nothing happens if no log has begun. */
  static void acknowledged(String key) {
    InsertLog log = open;
    if (log != null) {
      log.add(key);
    }
  }

  private void add(String key) {
    Named last = named.get();
    if (last == null || last.number < 0 || !last.key.equals(key)) {
      throw new IllegalStateException("the number of the inserted key " + key + " is not known");
    }
    synchronized (acknowledged) {
      acknowledged.set(Math.toIntExact(last.number));
    }
  }

  /**
   * Ends the log and writes a line {@code FIRST LAST STEP} per range, of record numbers.
   *
   * @param first record number of insert 0
   * @param step distance of the record numbers of two inserts
   */
  void end(Path path, long first, long step) throws IOException {
    open = null;
    StringBuilder text = new StringBuilder();
    synchronized (acknowledged) {
      int from = acknowledged.nextSetBit(0);
      while (from >= 0) {
        int to = acknowledged.nextClearBit(from) - 1;
        text.append(first + from * step).append(' ').append(first + to * step);
        text.append(' ').append(step).append('\n');
        from = acknowledged.nextSetBit(to + 1);
      }
    }
    Files.writeString(path, text);
  }
}
