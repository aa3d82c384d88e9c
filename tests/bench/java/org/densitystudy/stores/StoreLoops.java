package org.densitystudy.stores;

import java.util.List;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import org.densitystudy.stores.accumulo.HandAccumulo;
import org.densitystudy.stores.cassandra.HandCassandra;
import org.densitystudy.stores.kudu.HandKudu;
import org.densitystudy.stores.redis.HandRedis;
import org.densitystudy.stores.rocksdb.HandRocksDb;
import org.densitystudy.ycsb.Turns;
import site.ycsb.Utils;
import site.ycsb.generator.ScrambledZipfianGenerator;

/**
 * A store's binding under YCSB's own threads, and a loop by hand on the same client, in {@link Turns}: the keys and
 * fields of CoreWorkload's reads and updates, without YCSB around them, nothing measured.
 *
 * <p>StoreLoops THREADS WARM_UP_S ROUNDS SLICE_S DB STORE KEY=VALUE..., the properties of a YCSB run. Prints one line per
 * round: operations per second of the binding, of the loop, and of YCSB around a binding that does nothing.
 */
public final class StoreLoops {
  private static final int FIELDS = 10;
  private static final int FIELD_BYTES = 100;
  private final ScrambledZipfianGenerator keys;
  private final double reads;

  private StoreLoops(Properties properties) {
    keys = new ScrambledZipfianGenerator(0, Long.parseLong(properties.getProperty("recordcount")) - 1);
    reads = Double.parseDouble(properties.getProperty("readproportion"));
  }

  public static void main(String[] words) throws Exception {
    Properties properties = Turns.properties(words, 6);
    Turns turns = new Turns(Integer.parseInt(words[0]));
    StoreLoops loops = new StoreLoops(properties);
    String store = words[5];
    List<Turns.Variant> variants =
        List.of(
            turns.binding(words[4], properties),
            turns.loop(
                count -> {
                  try (HandStore hand = opened(store, properties)) {
                    loops.run(hand, count);
                  }
                }),
            turns.binding(words[4], withoutStore(properties)));
    turns.compare(
        variants,
        Double.parseDouble(words[1]),
        Integer.parseInt(words[2]),
        Double.parseDouble(words[3]));
    System.exit(0);
  }

  private static Properties withoutStore(Properties properties) {
    Properties without = new Properties();
    without.putAll(properties);
    without.setProperty("think.timed.db", NoStore.class.getName());
    return without;
  }

  private static HandStore opened(String store, Properties properties) throws Exception {
    return switch (store) {
      case "redis" -> new HandRedis(properties);
      case "rocksdb" -> new HandRocksDb(properties);
      case "accumulo" -> new HandAccumulo(properties);
      case "cassandra" -> new HandCassandra(properties);
      case "kudu" -> new HandKudu(properties);
      default -> throw new IllegalArgumentException(store + " has no loop by hand");
    };
  }

  private void run(HandStore store, int operations) throws Exception {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    for (int i = 0; i < operations; i++) {
      String key = "user" + Utils.hash(keys.nextValue());
      if (random.nextDouble() >= reads) {
        byte[] value = new byte[FIELD_BYTES];
        random.nextBytes(value);
        store.update(key, "field" + random.nextInt(FIELDS), value);
      } else if (store.read(key) != FIELDS) {
        throw new IllegalStateException("a row without its fields: " + key);
      }
    }
  }
}
