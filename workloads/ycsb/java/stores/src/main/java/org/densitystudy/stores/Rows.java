package org.densitystudy.stores;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.densitystudy.ycsb.CleanUpLog;
import org.densitystudy.ycsb.Failures;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * What the bindings share: failures are counted for the whole JVM, and a status says what happened.
 *
 * <p>Every failure is a Status: ERROR for an exception, NOT_FOUND for a read of a missing row. No write is batched or
 * acknowledged before the store has acknowledged it. A scan past the last row is OK and returns fewer rows.
 */
public abstract class Rows extends DB {
  private static final Failures FAILURES = new Failures(System.err, "store-client");
  private static int holders;
  private boolean isOpen;

  /** Opens what the thread needs; called once per thread. */
  protected abstract void open(Properties properties) throws DBException;

  /** Closes it; called only after open. */
  protected abstract void close() throws DBException;

  /** Writes fields of a row, whether it exists or not. {@code operation}: UPDATE or INSERT, to count failures by. */
  protected abstract Status write(
      String operation, String table, String key, Map<String, ByteIterator> values);

  @Override
  public final void init() throws DBException {
    CleanUpLog.open(getProperties());
    open(getProperties());
    isOpen = true;
    synchronized (Rows.class) {
      holders++;
    }
  }

  /** The last thread also reports all failures. */
  @Override
  public final void cleanup() throws DBException {
    if (!isOpen) {
      return;
    }
    isOpen = false;
    close();
    synchronized (Rows.class) {
      if (--holders == 0) {
        FAILURES.report();
      }
    }
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return write("UPDATE", table, key, values);
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return write("INSERT", table, key, values);
  }

  /** Of a store that places rows by a hash of their keys: studies with scans are refused. */
  @Override
  public Status scan(
      String table,
      String start,
      int rows,
      Set<String> wanted,
      Vector<HashMap<String, ByteIterator>> result) {
    return Status.NOT_IMPLEMENTED;
  }

  public static Status failed(String operation, Exception failure) {
    FAILURES.count(operation, failure);
    return Status.ERROR;
  }

  public static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  public static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  public static ByteIterator value(byte[] bytes) {
    return new ByteArrayByteIterator(bytes);
  }

  public static Map<byte[], byte[]> encoded(Map<String, ByteIterator> values) {
    Map<byte[], byte[]> encoded = new HashMap<>(2 * values.size());
    values.forEach((field, value) -> encoded.put(bytes(field), value.toArray()));
    return encoded;
  }

  /** Adds an empty row to the result of a scan. */
  public static HashMap<String, ByteIterator> rowOf(Vector<HashMap<String, ByteIterator>> result) {
    HashMap<String, ByteIterator> row = new HashMap<>();
    result.add(row);
    return row;
  }

  /** The user's password, which only a file has: command lines and records name the file. Null: none. */
  public static String password(Properties properties) throws DBException {
    String file = properties.getProperty("store.password.file", "");
    try {
      return file.isEmpty() ? null : Files.readString(Path.of(file)).strip();
    } catch (IOException failure) {
      throw new DBException("the password file " + file + " cannot be read: " + failure, failure);
    }
  }

  public static String needed(Properties properties, String name) throws DBException {
    String value = properties.getProperty(name, "");
    if (value.isEmpty()) {
      throw new DBException(name + " is not set");
    }
    return value;
  }
}
