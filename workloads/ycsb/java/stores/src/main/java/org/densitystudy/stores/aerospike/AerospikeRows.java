package org.densitystudy.stores.aerospike;

import com.aerospike.client.AerospikeException;
import com.aerospike.client.Bin;
import com.aerospike.client.Record;
import com.aerospike.client.ResultCode;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.densitystudy.stores.Rows;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB's operations on Aerospike: a row is a record, a field is a bin of bytes. Options: {@link AerospikeConnection}.
 *
 * <p>All tables are one set, which every load empties: a server keeps the names of sets, and has a limit of them. As in
 * HBase, an insert overwrites fields that exist, an update of a missing row writes it, and a delete of a missing row
 * succeeds. Records are placed by a hash of their keys: a scan is NOT_IMPLEMENTED, and studies with one are refused.
 */
public final class AerospikeRows extends Rows {
  private AerospikeConnection store;

  /** YCSB creates instances by name, then calls init. */
  public AerospikeRows() {}

  @Override
  protected void open(Properties properties) throws DBException {
    store = AerospikeConnection.SHARED.acquire(properties);
  }

  @Override
  protected void close() throws DBException {
    AerospikeConnection.SHARED.release();
  }

  @Override
  public Status read(
      String table, String key, Set<String> wanted, Map<String, ByteIterator> result) {
    try {
      Record record =
          wanted == null
              ? store.client.get(store.read, store.key(key))
              : store.client.get(store.read, store.key(key), wanted.toArray(String[]::new));
      if (record == null) {
        return Status.NOT_FOUND;
      }
      if (record.bins != null) { // a record may have none of the fields
        record.bins.forEach((field, value) -> result.put(field, value((byte[]) value)));
      }
      return Status.OK;
    } catch (AerospikeException failure) {
      return failed("READ", failure);
    }
  }

  @Override
  protected Status write(
      String operation, String table, String key, Map<String, ByteIterator> values) {
    Bin[] bins =
        values.entrySet().stream()
            .map(field -> new Bin(field.getKey(), field.getValue().toArray()))
            .toArray(Bin[]::new);
    try {
      store.client.put(store.write, store.key(key), bins);
      return Status.OK;
    } catch (AerospikeException failure) {
      return failed(operation, failure);
    }
  }

  @Override
  public Status delete(String table, String key) {
    try {
      store.client.delete(store.delete, store.key(key));
      return Status.OK;
    } catch (AerospikeException failure) {
      return failed("DELETE", failure);
    }
  }

  /** One class of exceptions stands for most results, so that the result belongs to the kind of the failure. */
  private static Status failed(String operation, AerospikeException failure) {
    String result = ResultCode.getResultString(failure.getResultCode());
    return Rows.failed(operation + " (" + result + ")", failure);
  }
}
