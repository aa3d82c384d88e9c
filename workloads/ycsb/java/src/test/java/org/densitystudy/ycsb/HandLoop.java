package org.densitystudy.ycsb;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;
import site.ycsb.Utils;
import site.ycsb.generator.ScrambledZipfianGenerator;

/**
 * The best loop one can write by hand against HBase's client, for the benchmark of the binding: the
 * keys, rows and threads of a YCSB run, without YCSB around them, nothing measured but the count.
 *
 * <p>HandLoop async|blocking TABLE FAMILY THREADS WARM_UP_S SECONDS RECORDS READS INSERTS SCANS
 * MAX_SCAN, shares adding to 1. Prints operations a second after the warm-up, and fails on any error.
 */
final class HandLoop {
  /** One thread's way to HBase. */
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
  private final long countFromNs;
  private final long untilNs;

  private HandLoop(String[] words) {
    family = Bytes.toBytes(words[2]);
    records = Long.parseLong(words[6]);
    reads = Double.parseDouble(words[7]);
    inserts = Double.parseDouble(words[8]);
    maxScan = Integer.parseInt(words[10]);
    keys = new ScrambledZipfianGenerator(0, records - 1);
    countFromNs = System.nanoTime() + seconds(words[4]);
    untilNs = countFromNs + seconds(words[5]);
  }

  public static void main(String[] words) throws Exception {
    TableName name = TableName.valueOf(words[1]);
    int threads = Integer.parseInt(words[3]);
    var configuration = HBaseConfiguration.create();
    long done = 0;
    try (Connection blocking = ConnectionFactory.createConnection(configuration);
        AsyncConnection async = ConnectionFactory.createAsyncConnection(configuration).get()) {
      blocking.getRegionLocator(name).getAllRegionLocations();
      async.getRegionLocator(name).getAllRegionLocations().get();
      HandLoop loop = new HandLoop(words);
      List<Callable<Long>> work = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        work.add(
            () ->
                loop.run(
                    words[0].equals("async")
                        ? waiting(async.getTable(name))
                        : of(blocking.getTable(name))));
      }
      ExecutorService pool = Executors.newFixedThreadPool(threads);
      for (Future<Long> future : pool.invokeAll(work)) {
        done += future.get();
      }
      pool.shutdown();
    }
    System.out.printf(Locale.ROOT, "%.1f%n", done / Double.parseDouble(words[5]));
    System.exit(0);
  }

  /** Operations that ended after the warm-up. */
  private long run(Store store) throws Exception {
    long done = 0;
    for (long now = System.nanoTime(); now < untilNs; now = System.nanoTime()) {
      operate(store);
      if (now >= countFromNs) {
        done++;
      }
    }
    return done;
  }

  private void operate(Store store) throws Exception {
    double kind = ThreadLocalRandom.current().nextDouble();
    if (kind < reads) {
      Result row = store.get(new Get(key(keys.nextValue())).addFamily(family));
      require(row.size() == FIELDS, "a row without its fields");
    } else if (kind < reads + inserts) {
      store.put(row(key(records + inserted.getAndIncrement())));
    } else {
      int rows = 1 + ThreadLocalRandom.current().nextInt(maxScan);
      Scan scan = new Scan().withStartRow(key(keys.nextValue())).addFamily(family);
      scan.setLimit(rows).setCaching(rows).setReadType(Scan.ReadType.PREAD);
      require(!store.scan(scan).isEmpty(), "a scan without a row");
    }
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

  private static Store waiting(AsyncTable<?> table) {
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

  private static Store of(Table table) {
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

  private static long seconds(String text) {
    return (long) (1e9 * Double.parseDouble(text));
  }
}
