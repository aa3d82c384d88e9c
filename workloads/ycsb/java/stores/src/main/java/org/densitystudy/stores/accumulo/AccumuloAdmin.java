package org.densitystudy.stores.accumulo;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.accumulo.core.client.AccumuloClient;
import org.apache.accumulo.core.client.IteratorSetting;
import org.apache.accumulo.core.client.Scanner;
import org.apache.accumulo.core.client.admin.CompactionConfig;
import org.apache.accumulo.core.client.admin.DiskUsage;
import org.apache.accumulo.core.client.admin.Locations;
import org.apache.accumulo.core.client.admin.NewTableConfiguration;
import org.apache.accumulo.core.data.Key;
import org.apache.accumulo.core.data.Range;
import org.apache.accumulo.core.data.TabletId;
import org.apache.accumulo.core.data.Value;
import org.apache.accumulo.core.iterators.FirstEntryInRowIterator;
import org.apache.accumulo.core.security.Authorizations;
import org.apache.hadoop.io.Text;
import org.densitystudy.stores.Admin;
import org.densitystudy.stores.Rows;
import org.densitystudy.ycsb.YcsbKeys;
import site.ycsb.DBException;
import site.ycsb.workloads.CoreWorkload;

/**
 * Accumulo: tables are made anew for each load, cut into tablets of equal size. Options beside those of {@link
 * AccumuloConnection}: {@code accumulo.tservers=N}, {@code accumulo.durability=none|flush|sync}, and {@code tablets=N} with {@code insertorder}, {@code zeropadding} and {@code
 * recordcount} as YCSB has them.
 */
public final class AccumuloAdmin implements Admin {
  static final String DURABILITY = "table.durability";
  private final Properties properties;
  private final int servers;
  private final AccumuloClient client;

  public AccumuloAdmin(Properties properties) throws DBException {
    this.properties = properties;
    this.servers = Integer.parseInt(Rows.needed(properties, "accumulo.tservers"));
    this.client = AccumuloConnection.connected(properties);
  }

  /** Every tablet server must be there before, and have its share of the tablets afterwards. */
  @Override
  public void empty(String table) throws Exception {
    Admin.await(this::missingServers);
    if (client.tableOperations().exists(table)) {
      client.tableOperations().delete(table);
    }
    client.tableOperations().create(table, configuration(properties));
    Admin.await(() -> uneven(tabletsByServer(table), servers));
  }

  /**
   * Like HBase's tables: not compressed, never split, with a cache of blocks. All else is as Accumulo presets it: one
   * version of each entry, no Bloom filters.
   */
  static NewTableConfiguration configuration(Properties properties) throws DBException {
    NewTableConfiguration table =
        new NewTableConfiguration()
            .setProperties(
                Map.of(
                    DURABILITY, Rows.needed(properties, "accumulo.durability"),
                    "table.file.compress.type", "none",
                    "table.split.threshold", "1000G",
                    "table.cache.block.enable", "true",
                    "table.cache.index.enable", "true"));
    SortedSet<Text> splits = splits(properties);
    return splits.isEmpty() ? table : table.withSplits(splits);
  }

  /** Keys that cut the table into parts of equal size: the same as those of HBase's regions. */
  static SortedSet<Text> splits(Properties properties) {
    int tablets = Integer.parseInt(properties.getProperty("tablets", "1"));
    String order =
        properties.getProperty(
            CoreWorkload.INSERT_ORDER_PROPERTY, CoreWorkload.INSERT_ORDER_PROPERTY_DEFAULT);
    byte[][] keys;
    if (order.equals("ordered")) {
      String padding = properties.getProperty(CoreWorkload.ZERO_PADDING_PROPERTY);
      long records = Long.parseLong(properties.getProperty("recordcount"));
      keys = YcsbKeys.ordered(Integer.parseInt(padding)).splitsInOrder(tablets, records);
    } else {
      keys = YcsbKeys.padded(1).splits(tablets);
    }
    SortedSet<Text> splits = new TreeSet<>();
    Arrays.stream(keys).map(Text::new).forEach(splits::add);
    return splits;
  }

  private String missingServers() {
    int live = client.instanceOperations().getTabletServers().size();
    return live < servers ? live + " of " + servers + " tablet servers are live" : "";
  }

  private Map<String, Integer> tabletsByServer(String table) throws Exception {
    Locations found = client.tableOperations().locate(table, List.of(new Range()));
    Map<String, Integer> tablets = new HashMap<>();
    for (TabletId tablet : found.groupByTablet().keySet()) {
      tablets.merge(found.getTabletLocation(tablet), 1, Integer::sum);
    }
    return tablets;
  }

  /** Empty if servers have as many tablets as each other, or one more. */
  static String uneven(Map<String, Integer> tablets, int servers) {
    int most = Collections.max(tablets.values());
    int least = tablets.size() < servers ? 0 : Collections.min(tablets.values());
    return most - least > 1 ? "tablets are not spread evenly: " + tablets : "";
  }

  /** Flushed, and compacted into one file for each tablet, as HBase's tables are. */
  @Override
  public void settle(String table) throws Exception {
    CompactionConfig whole = new CompactionConfig().setFlush(true).setWait(true);
    client.tableOperations().compact(table, whole);
  }

  /** {@code table_id}: in the tablet servers' logs, which tell compactions. */
  @Override
  public Map<String, Object> state(String table) throws Exception {
    Map<String, Object> state = new TreeMap<>();
    long bytes = 0;
    for (DiskUsage usage : client.tableOperations().getDiskUsage(Set.of(table))) {
      bytes += usage.getUsage();
    }
    Map<String, Integer> tablets = tabletsByServer(table);
    state.put("durability", client.tableOperations().getConfiguration(table).get(DURABILITY));
    state.put("files_bytes", bytes);
    state.put("rows", rows(table));
    state.put("table_id", client.tableOperations().tableIdMap().get(table));
    state.put("tablets", tablets.values().stream().mapToInt(Integer::intValue).sum());
    state.put("tablets_most", Collections.max(tablets.values()));
    return state;
  }

  /** The servers send one entry of each row. */
  private long rows(String table) throws Exception {
    long rows = 0;
    try (Scanner scanner = client.createScanner(table, Authorizations.EMPTY)) {
      scanner.addScanIterator(new IteratorSetting(50, FirstEntryInRowIterator.class));
      for (Map.Entry<Key, Value> row : scanner) {
        rows += row.getKey().getRowData().length() > 0 ? 1 : 0;
      }
    }
    return rows;
  }

  @Override
  public void close() {
    client.close();
  }
}
