package org.densitystudy.stores.accumulo;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.TimeUnit;
import org.apache.accumulo.core.client.AccumuloClient;
import org.apache.accumulo.core.client.AccumuloException;
import org.apache.accumulo.core.client.BatchWriter;
import org.apache.accumulo.core.client.BatchWriterConfig;
import org.apache.accumulo.core.client.Scanner;
import org.apache.accumulo.core.client.TableNotFoundException;
import org.apache.accumulo.core.data.Key;
import org.apache.accumulo.core.data.Mutation;
import org.apache.accumulo.core.data.Range;
import org.apache.accumulo.core.data.Value;
import org.apache.accumulo.core.security.Authorizations;
import org.apache.hadoop.io.Text;
import org.densitystudy.stores.Rows;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.workloads.CoreWorkload;

/**
 * YCSB's operations on Accumulo: a field is a column of one family. Options: {@link AccumuloConnection}.
 *
 * <p>A write is one mutation, flushed at once: it is acknowledged when its tablet server has logged it as the table's
 * durability demands. Each thread has a writer of its own, since a flush by one thread does not wait for what another
 * adds meanwhile. As in HBase, an update of a missing row writes it, and a delete of a missing row succeeds.
 *
 * <p>Accumulo's API throws RuntimeExceptions for what happens to scans and lost servers, so these are failures, too.
 */
public final class AccumuloDb extends Rows {
  static final Text FAMILY = new Text("f");
  private static final long ANSWER_S = 60;
  private AccumuloClient client;
  private int fields;
  private BatchWriter writer;
  private String written;

  /** YCSB creates instances by name, then calls init. */
  public AccumuloDb() {}

  @Override
  protected void open(Properties properties) throws DBException {
    String count = CoreWorkload.FIELD_COUNT_PROPERTY;
    fields =
        Integer.parseInt(
            properties.getProperty(count, CoreWorkload.FIELD_COUNT_PROPERTY_DEFAULT));
    client = AccumuloConnection.SHARED.acquire(properties);
  }

  @Override
  protected void close() throws DBException {
    discard();
    AccumuloConnection.SHARED.release();
  }

  @Override
  public Status read(
      String table, String key, Set<String> wanted, Map<String, ByteIterator> result) {
    try (Scanner scanner = scanner(table, wanted, 1)) {
      scanner.setRange(Range.exact(key));
      boolean exists = false;
      for (Map.Entry<Key, Value> entry : scanner) {
        add(entry, result);
        exists = true;
      }
      return exists ? Status.OK : Status.NOT_FOUND;
    } catch (TableNotFoundException | RuntimeException failure) {
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
    try (Scanner scanner = scanner(table, wanted, rows)) {
      scanner.setRange(new Range(new Text(start), true, (Text) null, true));
      Text row = null;
      HashMap<String, ByteIterator> values = null;
      for (Map.Entry<Key, Value> entry : scanner) {
        if (row == null || entry.getKey().compareRow(row) != 0) {
          if (result.size() == rows) {
            break;
          }
          row = entry.getKey().getRow();
          values = rowOf(result);
        }
        add(entry, values);
      }
      return Status.OK;
    } catch (TableNotFoundException | RuntimeException failure) {
      return failed("SCAN", failure);
    }
  }

  @Override
  protected Status write(
      String operation, String table, String key, Map<String, ByteIterator> values) {
    return write(operation, table, mutation(key, values));
  }

  /** Accumulo deletes entries, not rows: it reads which there are. */
  @Override
  public Status delete(String table, String key) {
    Mutation mutation = new Mutation(key);
    try (Scanner scanner = scanner(table, null, 1)) {
      scanner.setRange(Range.exact(key));
      scanner.forEach(
          entry -> mutation.putDelete(FAMILY, entry.getKey().getColumnQualifier()));
    } catch (TableNotFoundException | RuntimeException failure) {
      return failed("DELETE", failure);
    }
    return mutation.size() == 0 ? Status.OK : write("DELETE", table, mutation);
  }

  static Mutation mutation(String key, Map<String, ByteIterator> values) {
    Mutation mutation = new Mutation(key);
    values.forEach(
        (field, value) -> mutation.put(FAMILY, new Text(field), new Value(value.toArray())));
    return mutation;
  }

  private Status write(String operation, String table, Mutation mutation) {
    try {
      BatchWriter to = writer(table);
      to.addMutation(mutation);
      to.flush();
      return Status.OK;
    } catch (AccumuloException | TableNotFoundException | RuntimeException failure) {
      discard();
      return failed(operation, failure);
    }
  }

  private BatchWriter writer(String table) throws TableNotFoundException {
    if (writer == null || !table.equals(written)) {
      discard();
      BatchWriterConfig config =
          new BatchWriterConfig().setMaxWriteThreads(1).setTimeout(ANSWER_S, TimeUnit.SECONDS);
      writer = client.createBatchWriter(table, config.setMaxLatency(0, TimeUnit.SECONDS));
      written = table;
    }
    return writer;
  }

  /** A writer that has failed fails for ever. All that it was given has been acknowledged or counted by then. */
  private void discard() {
    try {
      if (writer != null) {
        writer.close();
      }
    } catch (AccumuloException | RuntimeException again) {
      // it repeats the failure that was counted
    } finally {
      writer = null;
    }
  }

  /**
   * Isolated, so that a row is read as one write left it. With room for one entry more, the batch that has all rows
   * also tells that they are all: one round trip.
   */
  private Scanner scanner(String table, Set<String> wanted, int rows)
      throws TableNotFoundException {
    Scanner scanner = client.createScanner(table, Authorizations.EMPTY);
    scanner.setTimeout(ANSWER_S, TimeUnit.SECONDS);
    scanner.enableIsolation();
    scanner.setReadaheadThreshold(Long.MAX_VALUE);
    scanner.setBatchSize(rows * (wanted == null ? fields : wanted.size()) + 1);
    if (wanted == null) {
      scanner.fetchColumnFamily(FAMILY);
    } else {
      wanted.forEach(field -> scanner.fetchColumn(FAMILY, new Text(field)));
    }
    return scanner;
  }

  private static void add(Map.Entry<Key, Value> entry, Map<String, ByteIterator> into) {
    into.put(
        text(entry.getKey().getColumnQualifierData().toArray()), value(entry.getValue().get()));
  }
}
