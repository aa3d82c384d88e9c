package org.densitystudy.stores.hdfs;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.EnumSet;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.densitystudy.stores.Rows;
import org.densitystudy.stores.Shared;
import site.ycsb.DBException;

/**
 * The files of a table, which all threads of a JVM use together: {@code -p hdfs.folder=hdfs://HOST:PORT/FOLDER -p
 * table=NAME}.
 *
 * <p>A file holds rows of equal length, one behind the other. Its name, {@code FIRST-BYTES}, has the number of its first
 * row and the length of a row, so that a row's number is its position. Rows are written in the order of their numbers,
 * from {@code insertstart} on: several clients write ranges of their own.
 */
final class HdfsFiles {
  static final Shared<HdfsFiles> SHARED = new Shared<>(HdfsFiles::opened, HdfsFiles::close);
  private static final long FILE_BYTES = 1L << 30;

  /** No more is read at once: a scan of large rows takes several reads. */
  private static final int MOST_READ_BYTES = 8 << 20;

  private static final int BUFFER_BYTES = 1 << 16;

  private final FileSystem files;
  private final Path folder;
  private volatile TreeMap<Long, Source> sources;
  private FSDataOutputStream out;
  private int outLength;
  private long next;
  private Exception broken;

  private HdfsFiles(Properties properties) throws DBException, IOException {
    folder =
        new Path(Rows.needed(properties, "hdfs.folder"), Rows.needed(properties, "table"));
    Configuration settings = new Configuration();
    settings.setBoolean("fs.automatic.close", false); // the last holder may close it while the JVM ends
    files = FileSystem.newInstance(folder.toUri(), settings);
    next = Long.parseLong(properties.getProperty("insertstart", "0"));
  }

  static HdfsFiles opened(Properties properties) throws DBException {
    try {
      return new HdfsFiles(properties);
    } catch (IOException failure) {
      throw new DBException("HDFS cannot be used: " + failure, failure);
    }
  }

  /** Adjacent rows of one file. */
  record Range(byte[] bytes, int length) {
    int rows() {
      return bytes.length / length;
    }
  }

  private record Source(Path path, int length, long rows, Lazy in) {}

  /** One stream for all threads, as they read by position. */
  private final class Lazy {
    private final Path path;
    private FSDataInputStream opened;

    Lazy(Path path) {
      this.path = path;
    }

    synchronized FSDataInputStream get() throws IOException {
      if (opened == null) {
        opened = files.open(path);
      }
      return opened;
    }

    synchronized void close() throws IOException {
      if (opened != null) {
        opened.close();
      }
    }
  }

  /** The row of this number and those behind it in its file, {@code most} of them or fewer. Null: no such row. */
  Range read(long number, int most) throws IOException {
    Map.Entry<Long, Source> found = sources().floorEntry(number);
    if (found == null) {
      return null;
    }
    Source source = found.getValue();
    long at = number - found.getKey();
    if (at >= source.rows()) {
      return null;
    }
    long rows = Math.max(1, Math.min(most, MOST_READ_BYTES / source.length()));
    byte[] bytes = new byte[(int) Math.min(rows, source.rows() - at) * source.length()];
    source.in().get().readFully(at * source.length(), bytes);
    return new Range(bytes, source.length());
  }

  /**
   * Returns when the file system has taken the row. A thread waits until the rows before have been written. What is
   * not in HDFS when the files are closed is missing in {@link #rows}.
   */
  synchronized void append(long number, byte[] row) throws IOException, InterruptedException {
    while (number > next && broken == null) {
      wait();
    }
    if (broken != null) {
      throw new IOException("a row before it could not be written", broken);
    }
    if (number < next) {
      throw new IOException("row " + number + " was written before");
    }
    try {
      if (out == null || row.length != outLength || out.getPos() + row.length > FILE_BYTES) {
        endFile();
        out = created(new Path(folder, number + "-" + row.length));
        outLength = row.length;
      }
      out.write(row);
      next++;
    } catch (IOException | RuntimeException failure) {
      broken = failure;
      throw failure;
    } finally {
      notifyAll();
    }
  }

  /** On any DataNodes: a writer that is one itself would have a replica of each block. */
  private FSDataOutputStream created(Path path) throws IOException {
    return files.create(
        path,
        FsPermission.getFileDefault(),
        EnumSet.of(CreateFlag.CREATE, CreateFlag.IGNORE_CLIENT_LOCALITY),
        BUFFER_BYTES,
        files.getDefaultReplication(path),
        files.getDefaultBlockSize(path),
        null);
  }

  private void endFile() throws IOException {
    if (out != null) {
      FSDataOutputStream ended = out;
      out = null;
      ended.close();
    }
    sources = null;
  }

  /** Removes a file that has this row alone. */
  synchronized boolean delete(long number) throws IOException {
    Source source = sources().get(number);
    if (source == null || source.rows() != 1) {
      return false;
    }
    source.in().close();
    sources = null;
    next = number;
    return files.delete(source.path(), false);
  }

  void deleteAll() throws IOException {
    files.delete(folder, true);
    sources = null;
  }

  long rows() throws IOException {
    return sources().values().stream().mapToLong(Source::rows).sum();
  }

  FileStatus[] statuses() throws IOException {
    try {
      return files.listStatus(folder);
    } catch (FileNotFoundException none) {
      return new FileStatus[0];
    }
  }

  /** Blocks with fewer replicas than their file is to have. */
  int blocksThatLackReplicas() throws IOException {
    int lacking = 0;
    for (FileStatus file : statuses()) {
      for (var block : files.getFileBlockLocations(file, 0, file.getLen())) {
        lacking += block.getNames().length < file.getReplication() ? 1 : 0;
      }
    }
    return lacking;
  }

  /** By the number of the first row. A file that is being written is ended first. */
  private TreeMap<Long, Source> sources() throws IOException {
    TreeMap<Long, Source> known = sources;
    return known == null ? listed() : known;
  }

  private synchronized TreeMap<Long, Source> listed() throws IOException {
    endFile();
    TreeMap<Long, Source> found = new TreeMap<>();
    for (FileStatus file : statuses()) {
      String[] name = file.getPath().getName().split("-");
      int length = Integer.parseInt(name[1]);
      Path path = file.getPath();
      found.put(
          Long.parseLong(name[0]), new Source(path, length, file.getLen() / length, new Lazy(path)));
    }
    sources = found;
    return found;
  }

  void close() throws DBException {
    try (files) {
      synchronized (this) {
        if (sources != null) {
          for (Source source : sources.values()) {
            source.in().close();
          }
        }
        endFile();
      }
    } catch (IOException failure) {
      throw new DBException("the files could not be closed", failure);
    }
  }
}
