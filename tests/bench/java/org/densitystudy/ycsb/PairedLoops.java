package org.densitystudy.ycsb;

import java.util.List;
import java.util.Properties;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * HBase's binding under YCSB's own threads, and {@link HandLoop} through both of HBase's clients, in {@link Turns}.
 *
 * <p>PairedLoops THREADS WARM_UP_S ROUNDS SLICE_S DB KEY=VALUE..., the properties of a YCSB run.
 * Prints one line per round: operations per second of the binding, of the blocking client's loop,
 * of the asynchronous client's.
 */
final class PairedLoops {
  private PairedLoops() {}

  public static void main(String[] words) throws Exception {
    Properties properties = Turns.properties(words, 5);
    TableName table = TableName.valueOf(properties.getProperty("table"));
    var configuration = HBaseConfiguration.create();
    try (Connection blocking = ConnectionFactory.createConnection(configuration);
        AsyncConnection async = ConnectionFactory.createAsyncConnection(configuration).get()) {
      blocking.getRegionLocator(table).getAllRegionLocations();
      async.getRegionLocator(table).getAllRegionLocations().get();
      Turns turns = new Turns(Integer.parseInt(words[0]));
      HandLoop hand = hand(properties);
      List<Turns.Variant> variants =
          List.of(
              turns.binding(words[4], properties),
              turns.loop(count -> hand.run(HandLoop.of(blocking.getTable(table)), count)),
              turns.loop(count -> hand.run(HandLoop.waiting(async.getTable(table)), count)));
      turns.compare(variants, seconds(words[1]), Integer.parseInt(words[2]), seconds(words[3]));
    }
    System.exit(0);
  }

  private static HandLoop hand(Properties properties) {
    double inserts = share(properties, "insert");
    long operations = Long.parseLong(properties.getProperty("operationcount"));
    return new HandLoop(
        Bytes.toBytes(properties.getProperty("columnfamily")),
        Long.parseLong(properties.getProperty("recordcount")),
        (long) (operations * inserts * 2.0), // CoreWorkload.init
        share(properties, "read"),
        inserts,
        Integer.parseInt(properties.getProperty("maxscanlength")));
  }

  private static double share(Properties properties, String kind) {
    return Double.parseDouble(properties.getProperty(kind + "proportion", "0"));
  }

  private static double seconds(String text) {
    return Double.parseDouble(text);
  }
}
