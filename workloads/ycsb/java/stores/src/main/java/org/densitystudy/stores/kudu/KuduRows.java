package org.densitystudy.stores.kudu;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.apache.kudu.ColumnSchema;
import org.apache.kudu.client.KuduClient;
import org.apache.kudu.client.KuduException;
import org.apache.kudu.client.KuduPredicate.ComparisonOp;
import org.apache.kudu.client.KuduPredicate;
import org.apache.kudu.client.KuduScanner;
import org.apache.kudu.client.KuduSession;
import org.apache.kudu.client.KuduTable;
import org.apache.kudu.client.Operation;
import org.apache.kudu.client.OperationResponse;
import org.apache.kudu.client.PartialRow;
import org.apache.kudu.client.RowError;
import org.apache.kudu.client.RowResult;
import org.apache.kudu.client.SessionConfiguration.FlushMode;
import org.densitystudy.stores.Rows;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB's operations on Kudu: a field is a nullable column of bytes. Options: {@link KuduConnection}.
 *
 * <p>Each write is sent alone, and is OK when a majority of the replicas have it in their logs and it has no row error.
 * Reads ask the leader, which has every acknowledged write. As in HBase, an insert or update writes its fields whether
 * the row exists or not, and a delete of a missing row succeeds. Tablets are ranges of keys, which a scan visits in
 * order; within a tablet it asks for the order of the primary key.
 */
public final class KuduRows extends Rows {
  static final String KEY = "key";
  private final Map<String, KuduTable> tables = new HashMap<>();
  private KuduClient client;
  private KuduSession session;

  /** YCSB creates instances by name, then calls init. */
  public KuduRows() {}

  @Override
  protected void open(Properties properties) throws DBException {
    client = KuduConnection.SHARED.acquire(properties);
    session = client.newSession();
    session.setFlushMode(FlushMode.AUTO_FLUSH_SYNC);
  }

  @Override
  protected void close() throws DBException {
    KuduConnection.SHARED.release();
  }

  @Override
  public Status read(
      String table, String key, Set<String> wanted, Map<String, ByteIterator> result) {
    try {
      KuduTable in = table(table);
      KuduScanner rows =
          client
              .newScannerBuilder(in)
              .setProjectedColumnNames(columns(wanted))
              .addPredicate(keys(in, ComparisonOp.EQUAL, key))
              .limit(1)
              .build();
      for (RowResult row : rows) {
        copy(row, result);
        return Status.OK;
      }
      return Status.NOT_FOUND;
    } catch (KuduException | RuntimeException failure) {
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
      KuduTable in = table(table);
      KuduScanner found =
          client
              .newScannerBuilder(in)
              .setProjectedColumnNames(columns(wanted))
              .addPredicate(keys(in, ComparisonOp.GREATER_EQUAL, start))
              .setFaultTolerant(true) // the one way to ask for the order of keys
              .limit(rows)
              .build();
      for (RowResult row : found) {
        copy(row, rowOf(result));
      }
      return Status.OK;
    } catch (KuduException | RuntimeException failure) {
      return failed("SCAN", failure);
    }
  }

  @Override
  public Status delete(String table, String key) {
    try {
      Operation delete = table(table).newDeleteIgnore();
      delete.getRow().addString(KEY, key);
      return applied("DELETE", delete);
    } catch (KuduException | RuntimeException failure) {
      return failed("DELETE", failure);
    }
  }

  @Override
  protected Status write(
      String operation, String table, String key, Map<String, ByteIterator> values) {
    try {
      Operation upsert = table(table).newUpsert();
      PartialRow row = upsert.getRow();
      row.addString(KEY, key);
      values.forEach((field, value) -> row.addBinary(field, value.toArray()));
      return applied(operation, upsert);
    } catch (KuduException | RuntimeException failure) {
      return failed(operation, failure);
    }
  }

  private Status applied(String name, Operation operation) throws KuduException {
    return statusOf(name, session.apply(operation));
  }

  /** An answer may be that the server took the request, but not the row. */
  static Status statusOf(String name, OperationResponse response) {
    return response.hasRowError()
        ? failed(name, new RowRefusedException(response.getRowError()))
        : Status.OK;
  }

  private KuduTable table(String name) throws KuduException {
    KuduTable known = tables.get(name);
    if (known == null) {
      known = client.openTable(name);
      tables.put(name, known);
    }
    return known;
  }

  private static KuduPredicate keys(KuduTable table, ComparisonOp comparison, String key) {
    return KuduPredicate.newComparisonPredicate(table.getSchema().getColumn(KEY), comparison, key);
  }

  /** Null: all columns. */
  private static List<String> columns(Set<String> wanted) {
    return wanted == null || wanted.isEmpty() ? null : List.copyOf(wanted);
  }

  /** A field that was never written is null, and not in the result. */
  private static void copy(RowResult row, Map<String, ByteIterator> into) {
    int index = 0;
    for (ColumnSchema column : row.getSchema().getColumns()) {
      if (!column.isKey() && !row.isNull(index)) {
        into.put(column.getName(), value(row.getBinaryCopy(index)));
      }
      index++;
    }
  }

  /** A row error, as an exception to count. */
  private static final class RowRefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    RowRefusedException(RowError error) {
      super(error.getErrorStatus().toString());
    }
  }
}
