package org.densitystudy.stores.rocksdb;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.densitystudy.stores.Admin;
import org.densitystudy.stores.Rows;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksIterator;
import site.ycsb.DBException;

/** RocksDB: the folder of the database. No client may have it open meanwhile. */
public final class RocksDbAdmin implements Admin {
  private static final String COMPACTION = "\"event\": \"compaction_started\"";
  private final Properties properties;
  private final Path path;
  private RocksDb store;

  public RocksDbAdmin(Properties properties) throws DBException {
    this.properties = properties;
    this.path = Path.of(Rows.needed(properties, "rocksdb.path"));
  }

  @Override
  public void empty(String table) throws DBException, IOException {
    close();
    if (!Files.exists(path)) {
      return;
    }
    Files.walkFileTree(
        path,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes facts) throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path folder, IOException none)
              throws IOException {
            Files.delete(folder);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /** Write buffers flushed, and everything compacted, as HBase's tables are. */
  @Override
  public void settle(String table) throws Exception {
    try (FlushOptions whole = new FlushOptions().setWaitForFlush(true)) {
      opened().database().flush(whole);
    }
    opened().database().compactRange();
  }

  @Override
  public Map<String, Object> state(String table) throws Exception {
    Map<String, Object> state = new TreeMap<>();
    state.put("background_runs", compactions()); // first: opening the database begins another log
    state.put("rows", rows());
    state.put("files_bytes", opened().database().getLongProperty("rocksdb.total-sst-files-size"));
    state.put(
        "files_level_0",
        Long.parseLong(opened().database().getProperty("rocksdb.num-files-at-level0")));
    return state;
  }

  /** Compactions since the database was made empty: every client leaves a log of its own. */
  private long compactions() throws DBException, IOException {
    close();
    if (!Files.exists(path)) {
      return 0;
    }
    long found = 0;
    try (DirectoryStream<Path> logs = Files.newDirectoryStream(path, "LOG*")) {
      for (Path log : logs) {
        try (Stream<String> lines = Files.lines(log)) {
          found += lines.filter(line -> line.contains(COMPACTION)).count();
        }
      }
    }
    return found;
  }

  private long rows() throws Exception {
    long rows = 0;
    byte[] row = null;
    try (RocksIterator entries = opened().iterator()) {
      for (entries.seekToFirst(); entries.isValid(); entries.next()) {
        byte[] entry = entries.key();
        if (row == null || !RocksDbClient.isOf(row, entry)) {
          row = RocksDbClient.rowIn(entry);
          rows++;
        }
      }
      entries.status();
    }
    return rows;
  }

  private RocksDb opened() throws DBException {
    if (store == null) {
      store = RocksDb.SHARED.acquire(properties);
    }
    return store;
  }

  @Override
  public void close() throws DBException {
    if (store != null) {
      store = null;
      RocksDb.SHARED.release();
    }
  }
}
