package org.densitystudy.stores.rocksdb;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.densitystudy.stores.Rows;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB's operations on RocksDB, embedded in the client: a storage engine without a network.
 *
 * <p>Each field is an entry of its own, {@code <key> NUL <field>}, as a cell is in HBase. So an update writes its
 * fields and reads nothing, and two updates of one row cannot lose each other's fields. A write is one atomic batch.
 * Reads and scans are of a snapshot of the moment: they iterate, in key order. Options: {@link RocksDb}.
 */
public final class RocksDbClient extends Rows {
  private RocksDb store;

  /** YCSB creates instances by name, then calls init. */
  public RocksDbClient() {}

  @Override
  protected void open(Properties properties) throws DBException {
    store = RocksDb.SHARED.acquire(properties);
  }

  @Override
  protected void close() throws DBException {
    RocksDb.SHARED.release();
  }

  @Override
  public Status read(
      String table, String key, Set<String> wanted, Map<String, ByteIterator> result) {
    byte[] row = bytes(key);
    try (RocksIterator entries = store.iterator()) {
      boolean exists = false;
      for (entries.seek(begin(row)); entries.isValid(); entries.next()) {
        byte[] entry = entries.key();
        if (!isOf(row, entry)) {
          break;
        }
        exists = true;
        add(entry, row.length, entries, wanted, result);
      }
      entries.status();
      return exists ? Status.OK : Status.NOT_FOUND;
    } catch (RocksDBException failure) {
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
    try (RocksIterator entries = store.iterator()) {
      byte[] row = null;
      HashMap<String, ByteIterator> values = null;
      for (entries.seek(bytes(start)); entries.isValid(); entries.next()) {
        byte[] entry = entries.key();
        if (row == null || !isOf(row, entry)) {
          if (result.size() == rows) {
            break;
          }
          row = rowIn(entry);
          values = rowOf(result);
        }
        add(entry, row.length, entries, wanted, values);
      }
      entries.status();
      return Status.OK;
    } catch (RocksDBException failure) {
      return failed("SCAN", failure);
    }
  }

  @Override
  public Status delete(String table, String key) {
    byte[] row = bytes(key);
    byte[] end = begin(row);
    end[row.length] = 1; // the first entry that cannot be of the row
    try (WriteBatch batch = new WriteBatch()) {
      batch.deleteRange(begin(row), end);
      store.write(batch);
      return Status.OK;
    } catch (RocksDBException failure) {
      return failed("DELETE", failure);
    }
  }

  @Override
  protected Status write(
      String operation, String table, String key, Map<String, ByteIterator> values) {
    byte[] row = bytes(key);
    try (WriteBatch batch = new WriteBatch()) {
      for (Map.Entry<String, ByteIterator> one : values.entrySet()) {
        batch.put(entry(row, bytes(one.getKey())), one.getValue().toArray());
      }
      store.write(batch);
      return Status.OK;
    } catch (RocksDBException failure) {
      return failed(operation, failure);
    }
  }

  private static void add(
      byte[] entry,
      int row,
      RocksIterator at,
      Set<String> wanted,
      Map<String, ByteIterator> into) {
    String field = text(java.util.Arrays.copyOfRange(entry, row + 1, entry.length));
    if (wanted == null || wanted.contains(field)) {
      into.put(field, value(at.value()));
    }
  }

  /** Where the entries of a row begin. */
  static byte[] begin(byte[] row) {
    return entry(row, new byte[0]);
  }

  static byte[] entry(byte[] row, byte[] field) {
    byte[] entry = new byte[row.length + 1 + field.length]; // a NUL between them
    System.arraycopy(row, 0, entry, 0, row.length);
    System.arraycopy(field, 0, entry, row.length + 1, field.length);
    return entry;
  }

  static boolean isOf(byte[] row, byte[] entry) {
    if (entry.length <= row.length || entry[row.length] != 0) {
      return false;
    }
    return java.util.Arrays.equals(row, 0, row.length, entry, 0, row.length);
  }

  static byte[] rowIn(byte[] entry) {
    int end = 0;
    while (end < entry.length && entry[end] != 0) {
      end++;
    }
    return java.util.Arrays.copyOf(entry, end);
  }
}
