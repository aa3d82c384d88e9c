package org.densitystudy.ycsb;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.hbase.Evaluation;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.util.Bytes;
import site.ycsb.ByteIterator;
import site.ycsb.Utils;

/**
 * Random reads by HBase's PerformanceEvaluation and by the binding under YCSB, in {@link Turns}, and what lies between them:
 * each variant differs from the one before in one respect.
 *
 * <p>PeerLoops THREADS WARM_UP_S ROUNDS SLICE_S DB KEY=VALUE..., the properties of a YCSB run. Prints one line per round:
 * operations per second of each variant.
 */
final class PeerLoops {
  private static final TableName THEIRS = TableName.valueOf("TestTable");
  private static final byte[] THEIR_FAMILY = Bytes.toBytes("info0");
  private static final byte[] THEIR_COLUMN = Bytes.toBytes("0");

  private final Properties properties;
  private final String table;
  private final byte[] family;
  private final int rows;

  private PeerLoops(Properties properties) {
    this.properties = properties;
    this.table = properties.getProperty("table");
    this.family = Bytes.toBytes(properties.getProperty("columnfamily"));
    this.rows = Integer.parseInt(properties.getProperty("recordcount"));
  }

  /** Exits itself: the threads of {@link Turns} would outlive a failure. */
  public static void main(String[] words) {
    try {
      compare(words);
      System.exit(0);
    } catch (Exception | LinkageError failure) {
      failure.printStackTrace();
      System.exit(1);
    }
  }

  private static void compare(String[] words) throws Exception {
    Properties properties = Turns.properties(words, 5);
    PeerLoops loops = new PeerLoops(properties);
    var configuration = HBaseConfiguration.create();
    try (Connection blocking = ConnectionFactory.createConnection(configuration);
        AsyncConnection async = ConnectionFactory.createAsyncConnection(configuration).get()) {
      Evaluation randomRead = Evaluation.randomRead(blocking, loops.rows);
      Evaluation asyncRandomRead = Evaluation.asyncRandomRead(async, loops.rows);
      Turns turns = new Turns(Integer.parseInt(words[0]));
      Turns.Variant binding = turns.binding(words[4], properties);
      List<Turns.Variant> variants =
          List.of(
              turns.loop(randomRead::run),
              turns.loop(asyncRandomRead::run),
              turns.loop(count -> loops.theirRows(async.getTable(THEIRS), count)),
              turns.loop(count -> loops.ourRows(async.getTable(TableName.valueOf(loops.table)), count)),
              turns.loop(loops::client),
              binding);
      double warmUpS = Double.parseDouble(words[1]);
      turns.compare(variants, warmUpS, Integer.parseInt(words[2]), Double.parseDouble(words[3]));
    }
  }

  /** PE's table and keys, and nothing measured. */
  private void theirRows(AsyncTable<?> opened, int operations) throws Exception {
    for (int i = 0; i < operations; i++) {
      Get get = new Get(Evaluation.key(rows)).addColumn(THEIR_FAMILY, THEIR_COLUMN);
      require(!opened.get(get).get().isEmpty());
    }
  }

  /** The same on the table and the keys of YCSB, with all columns, as the binding requests them. */
  private void ourRows(AsyncTable<?> opened, int operations) throws Exception {
    for (int i = 0; i < operations; i++) {
      Get get = new Get(Bytes.toBytes(key())).addFamily(family);
      require(!opened.get(get).get().isEmpty());
    }
  }

  /** The same by the binding, without YCSB. */
  private void client(int operations) throws Exception {
    HBaseClient client = new HBaseClient();
    client.setProperties(properties);
    client.init();
    for (int i = 0; i < operations; i++) {
      Map<String, ByteIterator> values = new HashMap<>();
      require(client.read(table, key(), null, values).isOk());
    }
    client.cleanup();
  }

  private String key() {
    return "user" + Utils.hash(ThreadLocalRandom.current().nextInt(rows));
  }

  private static void require(boolean holds) {
    if (!holds) {
      throw new IllegalStateException("a read without a row");
    }
  }
}
