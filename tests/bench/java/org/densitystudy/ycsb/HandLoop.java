package org.densitystudy.ycsb;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;
import site.ycsb.Utils;
import site.ycsb.generator.ScrambledZipfianGenerator;

/**
 * The best hand-written loop on HBase's client, for the benchmark of the binding: the
 * keys and rows of a YCSB run, without YCSB around them, nothing measured. One instance for all
 * threads; it fails on any error.
 */
final class HandLoop {
  /** One thread's access to HBase. */
  interface Store {
    Result get(Get get) throws Exception;

    void put(Put put) throws Exception;

    List<Result> scan(Scan scan) throws Exception;
  }

  private static final int FIELDS = 10;
  private static final int FIELD_BYTES = 100;
  private static final byte[][] QUALIFIERS = new byte[FIELDS][];

  static {
    for (int i = 0; i < FIELDS; i++) {
      QUALIFIERS[i] = Bytes.toBytes("field" + i);
    }
  }

  private final byte[] family;
  private final long records;
  private final double reads;
  private final double inserts;
  private final int maxScan;
  private final AtomicLong inserted = new AtomicLong();
  private final ScrambledZipfianGenerator keys;

  /**
   * Reads, inserts, and scans for the remaining share. {@code toCome}: the number of further rows
   * that CoreWorkload expects; it draws keys among them, too, until it has an existing one.
   */
  HandLoop(
      byte[] family, long records, long toCome, double reads, double inserts, int maxScan) {
    this.family = family;
    this.records = records;
    this.reads = reads;
    this.inserts = inserts;
    this.maxScan = maxScan;
    keys = new ScrambledZipfianGenerator(0, records + toCome);
  }

  void run(Store store, int operations) throws Exception {
    for (int i = 0; i < operations; i++) {
      operate(store);
    }
  }

  private void operate(Store store) throws Exception {
    double kind = ThreadLocalRandom.current().nextDouble();
    if (kind < reads) {
      Result row = store.get(new Get(key(drawn())).addFamily(family));
      require(row.size() == FIELDS, "a row without its fields");
    } else if (kind < reads + inserts) {
      store.put(row(key(records + inserted.getAndIncrement())));
    } else {
      int rows = 1 + ThreadLocalRandom.current().nextInt(maxScan);
      Scan scan = new Scan().withStartRow(key(drawn())).addFamily(family);
      scan.setLimit(rows).setCaching(rows).setReadType(Scan.ReadType.PREAD);
      require(!store.scan(scan).isEmpty(), "a scan without a row");
    }
  }

  private long drawn() {
    long number = keys.nextValue();
    while (number >= records + inserted.get()) {
      number = keys.nextValue();
    }
    return number;
  }

  private static byte[] key(long number) {
    return Bytes.toBytes("user" + Utils.hash(number));
  }

  private Put row(byte[] key) {
    Put put = new Put(key);
    for (byte[] qualifier : QUALIFIERS) {
      byte[] value = new byte[FIELD_BYTES];
      ThreadLocalRandom.current().nextBytes(value);
      put.addColumn(family, qualifier, value);
    }
    return put;
  }

  static Store waiting(AsyncTable<?> table) {
    return new Store() {
      @Override
      public Result get(Get get) throws Exception {
        return table.get(get).get();
      }

      @Override
      public void put(Put put) throws Exception {
        table.put(put).get();
      }

      @Override
      public List<Result> scan(Scan scan) throws Exception {
        return table.scanAll(scan).get();
      }
    };
  }

  static Store of(Table table) {
    return new Store() {
      @Override
      public Result get(Get get) throws IOException {
        return table.get(get);
      }

      @Override
      public void put(Put put) throws IOException {
        table.put(put);
      }

      @Override
      public List<Result> scan(Scan scan) throws IOException {
        List<Result> rows = new ArrayList<>();
        try (var scanner = table.getScanner(scan)) {
          scanner.forEach(rows::add);
        }
        return rows;
      }
    };
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalStateException(otherwise);
    }
  }
}
