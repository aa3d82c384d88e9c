package org.densitystudy.ycsb;

import static org.densitystudy.ycsb.SharedConnection.await;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.util.Bytes;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB's operations on HBase 2.6, one instance per client thread.
 *
 * <p>Every failure is a Status: ERROR for an exception ({@link Failures} counts and prints them),
 * NOT_FOUND for a read of a missing row. As in HBase itself, an update of a missing row writes it, and a
 * delete of a missing row succeeds. A scan past the last row is OK and returns fewer
 * rows. Options: {@link ClientOptions}. Addresses come from hbase-site.xml on the class path.
 *
 * <p>Each operation uses HBase's asynchronous client and waits for the result. That client opens a scan
 * and fetches its rows in one round trip; the blocking client needs two. On two busy cores 8 threads did
 * 14 % more short scans per second with it, and one thread about 60 %; reads were equal within the
 * noise.
 */
public final class HBaseClient extends DB {
  private final FieldNames fields = new FieldNames();
  private final List<Put> batch = new ArrayList<>();
  private ClientOptions options;
  private Failures failures;
  private AsyncConnection connection;
  private AsyncTable<?> table;
  private String tableName;

  /** YCSB creates instances by name, then calls init. */
  public HBaseClient() {}

  /** For tests: a client on an open table. */
  HBaseClient(ClientOptions options, AsyncTable<?> table, Failures failures) {
    this.options = options;
    this.table = table;
    this.tableName = options.table();
    this.failures = failures;
  }

  @Override
  public void init() throws DBException {
    options = ClientOptions.of(getProperties());
    failures = SharedConnection.failures();
    CleanUpLog.open(getProperties());
    try {
      connection = SharedConnection.acquire(options);
    } catch (IOException failure) {
      throw new DBException("cannot use HBase table " + options.table() + ": " + failure, failure);
    }
  }

  @Override
  public void cleanup() throws DBException {
    if (connection == null) {
      return;
    }
    connection = null;
    try {
      flush();
      SharedConnection.release();
    } catch (IOException failure) {
      throw new DBException("the connection to HBase could not be closed", failure);
    }
  }

  @Override
  public Status read(
      String name, String key, Set<String> wanted, Map<String, ByteIterator> result) {
    Get get = new Get(Bytes.toBytes(key));
    if (wanted == null) {
      get.addFamily(options.family());
    } else {
      wanted.forEach(field -> get.addColumn(options.family(), fields.qualifier(field)));
    }
    try {
      Result row = await(on(name).get(get));
      copy(row, result);
      return row.isEmpty() ? Status.NOT_FOUND : Status.OK;
    } catch (IOException failure) {
      return failed("READ", failure);
    }
  }

  @Override
  public Status scan(
      String name,
      String start,
      int rows,
      Set<String> wanted,
      Vector<HashMap<String, ByteIterator>> result) {
    Scan scan = scanOf(start, rows);
    if (wanted == null) {
      scan.addFamily(options.family());
    } else {
      wanted.forEach(field -> scan.addColumn(options.family(), fields.qualifier(field)));
    }
    try {
      for (Result row : await(on(name).scanAll(scan))) {
        HashMap<String, ByteIterator> values = new HashMap<>(2 * row.size());
        copy(row, values);
        result.add(values);
      }
      return Status.OK;
    } catch (IOException failure) {
      return failed("SCAN", failure);
    }
  }

  @Override
  public Status update(String name, String key, Map<String, ByteIterator> values) {
    return done("UPDATE", on(name).put(putOf(key, values)));
  }

  @Override
  public Status insert(String name, String key, Map<String, ByteIterator> values) {
    if (options.batch() > 1) {
      return batched(name, putOf(key, values));
    }
    Status status = done("INSERT", on(name).put(putOf(key, values)));
    if (status.isOk()) {
      InsertLog.acknowledged(key);
    }
    return status;
  }

  @Override
  public Status delete(String name, String key) {
    Delete delete = new Delete(Bytes.toBytes(key)).setDurability(options.durability());
    return done("DELETE", on(name).delete(delete));
  }

  /** Of loads that are not measured: OK until the batch is full. The last one is sent by cleanup. */
  private Status batched(String name, Put put) {
    on(name);
    batch.add(put);
    return batch.size() < options.batch() ? Status.OK : done("INSERT", putAll());
  }

  void flush() {
    if (!batch.isEmpty()) {
      done("INSERT", putAll());
    }
  }

  private CompletableFuture<Void> putAll() {
    List<Put> full = List.copyOf(batch);
    batch.clear();
    return table.putAll(full);
  }

  private Put putOf(String key, Map<String, ByteIterator> values) {
    Put put = new Put(Bytes.toBytes(key)).setDurability(options.durability());
    values.forEach(
        (field, value) ->
            put.addColumn(options.family(), fields.qualifier(field), value.toArray()));
    return put;
  }

  /** With a limit the server closes the scanner itself. Positional reads suit short scans. */
  private Scan scanOf(String start, int rows) {
    int caching = options.scanCaching() == 0 ? rows : Math.min(options.scanCaching(), rows);
    return new Scan()
        .withStartRow(Bytes.toBytes(start))
        .setLimit(rows)
        .setCaching(caching)
        .setReadType(Scan.ReadType.PREAD);
  }

  /** Values are not copied: each is an iterator over the bytes of its cell. */
  private void copy(Result row, Map<String, ByteIterator> into) {
    if (row.isEmpty()) {
      return;
    }
    Cell[] cells = row.rawCells();
    for (int i = 0; i < cells.length; i++) {
      Cell cell = cells[i];
      into.put(
          fields.name(cell, i),
          new ByteArrayByteIterator(
              cell.getValueArray(), cell.getValueOffset(), cell.getValueLength()));
    }
  }

  private Status done(String operation, CompletableFuture<Void> pending) {
    try {
      await(pending);
      return Status.OK;
    } catch (IOException failure) {
      return failed(operation, failure);
    }
  }

  private Status failed(String operation, IOException failure) {
    failures.count(operation, failure);
    return Status.ERROR;
  }

  /** YCSB passes the table's name with every operation; it is nearly always the same. */
  private AsyncTable<?> on(String name) {
    if (!name.equals(tableName)) {
      table = connection.getTable(TableName.valueOf(name));
      tableName = name;
    }
    return table;
  }
}
