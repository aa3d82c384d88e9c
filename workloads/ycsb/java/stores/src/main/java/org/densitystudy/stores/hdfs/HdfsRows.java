package org.densitystudy.stores.hdfs;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.densitystudy.stores.Rows;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.workloads.CoreWorkload;

/**
 * Reads of ranges of files in HDFS, as YCSB's operations: a row is a range, and its key ends with the row's number.
 * Options: those of {@link HdfsFiles}, {@code fieldcount}, and {@code insertorder=ordered}.
 *
 * <p>A read is one positioned read of a row, and a scan one of adjacent rows, with the checksums verified as HDFS does.
 * A load writes each row once. Files do not change afterwards: there are no updates.
 */
public final class HdfsRows extends Rows {
  private static final String PREFIX = CoreWorkload.FIELD_NAME_PREFIX_DEFAULT;
  private HdfsFiles files;
  private int fields;

  /** YCSB creates instances by name, then calls init. */
  public HdfsRows() {}

  @Override
  protected void open(Properties properties) throws DBException {
    fields =
        Integer.parseInt(
            properties.getProperty(
                CoreWorkload.FIELD_COUNT_PROPERTY, CoreWorkload.FIELD_COUNT_PROPERTY_DEFAULT));
    files = HdfsFiles.SHARED.acquire(properties);
  }

  @Override
  protected void close() throws DBException {
    HdfsFiles.SHARED.release();
  }

  @Override
  public Status read(
      String table, String key, Set<String> wanted, Map<String, ByteIterator> result) {
    try {
      HdfsFiles.Range found = files.read(number(key), 1);
      if (found == null) {
        return Status.NOT_FOUND;
      }
      copy(found, 0, wanted, result);
      return Status.OK;
    } catch (IOException | RuntimeException failure) {
      return failed("READ", failure);
    }
  }

  @Override
  public Status scan(
      String table,
      String start,
      int rows,
      Set<String> wanted,
      Vector<HashMap<String, ByteIterator>> result) {
    try {
      long first = number(start);
      while (result.size() < rows) {
        HdfsFiles.Range found = files.read(first + result.size(), rows - result.size());
        if (found == null) {
          break;
        }
        for (int row = 0; row < found.rows(); row++) {
          copy(found, row, wanted, rowOf(result));
        }
      }
      return Status.OK;
    } catch (IOException | RuntimeException failure) {
      return failed("SCAN", failure);
    }
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return Status.NOT_IMPLEMENTED;
  }

  /** Of a row that has a file of its own. */
  @Override
  public Status delete(String table, String key) {
    try {
      return files.delete(number(key)) ? Status.OK : Status.NOT_IMPLEMENTED;
    } catch (IOException | RuntimeException failure) {
      return failed("DELETE", failure);
    }
  }

  @Override
  protected Status write(
      String operation, String table, String key, Map<String, ByteIterator> values) {
    try {
      ByteArrayOutputStream row = new ByteArrayOutputStream();
      int length = 0;
      for (int field = 0; field < fields; field++) {
        byte[] value = values.get(PREFIX + field).toArray();
        if (field > 0 && value.length != length) {
          throw new IOException("the fields of a range have one length");
        }
        length = value.length;
        row.write(value);
      }
      files.append(number(key), row.toByteArray());
      return Status.OK;
    } catch (IOException | RuntimeException failure) {
      return failed(operation, failure);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
      return failed(operation, ended);
    }
  }

  /** At the end of the key; 0 for a key without one. */
  static long number(String key) {
    int begin = key.length();
    while (begin > 0 && Character.isDigit(key.charAt(begin - 1))) {
      begin--;
    }
    return begin == key.length() ? 0 : Long.parseLong(key.substring(begin));
  }

  private void copy(
      HdfsFiles.Range from, int row, Set<String> wanted, Map<String, ByteIterator> into) {
    int length = from.length() / fields;
    for (int field = 0; field < fields; field++) {
      if (wanted == null || wanted.contains(PREFIX + field)) {
        int begin = row * from.length() + field * length;
        into.put(PREFIX + field, new ByteArrayByteIterator(from.bytes(), begin, length));
      }
    }
  }
}
