package org.densitystudy.stores.kudu;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kudu.ColumnSchema.CompressionAlgorithm;
import org.apache.kudu.ColumnSchema.Encoding;
import org.apache.kudu.ColumnSchema;
import org.apache.kudu.Schema;
import org.apache.kudu.Type;
import org.apache.kudu.client.CreateTableOptions;
import org.apache.kudu.client.KuduClient;
import org.apache.kudu.client.KuduException;
import org.apache.kudu.client.KuduScanner;
import org.apache.kudu.client.PartialRow;
import org.apache.kudu.client.RowResult;
import org.densitystudy.stores.Admin;
import org.densitystudy.stores.kudu.KuduServer.Work;
import org.densitystudy.stores.Rows;
import org.densitystudy.ycsb.YcsbKeys;
import site.ycsb.DBException;

/**
 * Kudu: the table is made anew for each load. {@code kudu.servers=HOST:PORT,...}, {@code kudu.pages=HOST:PORT,...} in
 * the same order, {@code kudu.home=FOLDER} and {@code kudu.replication=N} beside the options of {@link
 * KuduConnection}; {@code fieldcount=N}, {@code tablets=N} and YCSB's own about keys.
 */
public final class KuduAdmin implements Admin {
  private static final int POLLS_AT_REST = 30; // 3 s; a server looks for work four times a second
  private static final long WITHOUT_CHANGE_MS = 300_000; // a long compaction changes nothing that is shown
  private static final String FLUSH_AFTER = "flush_threshold_secs";
  private final Properties properties;
  private final KuduClient client;
  private final List<KuduServer> servers = new ArrayList<>();

  public KuduAdmin(Properties properties) throws DBException {
    this.properties = properties;
    Path home = Path.of(Rows.needed(properties, "kudu.home"));
    String[] addresses = Rows.needed(properties, "kudu.servers").split(",");
    String[] pages = Rows.needed(properties, "kudu.pages").split(",");
    for (int i = 0; i < addresses.length; i++) {
      servers.add(new KuduServer(addresses[i], pages[i], home));
    }
    client = KuduConnection.connected(properties);
  }

  @Override
  public void empty(String table) throws Exception {
    if (client.tableExists(table)) {
      client.deleteTable(table);
    }
    Schema schema = schema(Integer.parseInt(Rows.needed(properties, "fieldcount")));
    int replicas = Integer.parseInt(Rows.needed(properties, "kudu.replication"));
    CreateTableOptions options =
        new CreateTableOptions()
            .setRangePartitionColumns(List.of(KuduRows.KEY))
            .setNumReplicas(replicas);
    for (byte[] key : splits(properties, servers.size())) {
      PartialRow split = schema.newPartialRow();
      split.addString(KuduRows.KEY, Rows.text(key));
      options.addSplitRow(split);
    }
    client.createTable(table, schema, options);
  }

  /** Like HBase's tables: neither compressed, nor encoded by a dictionary. */
  static Schema schema(int fields) {
    List<ColumnSchema> columns = new ArrayList<>();
    columns.add(column(KuduRows.KEY, Type.STRING).key(true).build());
    for (int field = 0; field < fields; field++) {
      columns.add(column("field" + field, Type.BINARY).nullable(true).build());
    }
    return new Schema(columns);
  }

  private static ColumnSchema.ColumnSchemaBuilder column(String name, Type type) {
    return new ColumnSchema.ColumnSchemaBuilder(name, type)
        .encoding(Encoding.PLAIN_ENCODING)
        .compressionAlgorithm(CompressionAlgorithm.NO_COMPRESSION);
  }

  /** Where tablets of equal size begin, like HBase's regions; without {@code tablets}, one on each server. */
  static byte[][] splits(Properties properties, int servers) throws DBException {
    int tablets = Integer.parseInt(properties.getProperty("tablets", String.valueOf(servers)));
    if (properties.getProperty("insertorder", "hashed").equals("hashed")) {
      return YcsbKeys.padded(1).splits(tablets);
    }
    int padding = Integer.parseInt(Rows.needed(properties, "zeropadding"));
    long records = Long.parseLong(properties.getProperty("recordcount"));
    return YcsbKeys.ordered(padding).splitsInOrder(tablets, records);
  }

  /**
   * Flushed and compacted. A server has no request for that: it flushes by itself what is older than a flag says, and
   * compacts as long as that improves anything. So it is told to flush at once, until it finds nothing to do.
   */
  @Override
  public void settle(String table) throws Exception {
    List<String> before = new ArrayList<>();
    for (KuduServer server : servers) {
      before.add(server.flag(FLUSH_AFTER));
      server.setFlag(FLUSH_AFTER, "0");
    }
    try {
      awaitRest(client.openTable(table).getTableId());
    } finally {
      for (int i = 0; i < servers.size(); i++) {
        servers.get(i).setFlag(FLUSH_AFTER, before.get(i));
      }
    }
  }

  private void awaitRest(String tableId) throws Exception {
    AtomicReference<Work> before = new AtomicReference<>(Work.NONE);
    AtomicInteger atRest = new AtomicInteger();
    Admin.await(
        () -> {
          Work work = work(tableId);
          boolean rests = work.running() == 0 && work.runs() == before.getAndSet(work).runs();
          atRest.set(rests ? atRest.get() + 1 : 0);
          return atRest.get() < POLLS_AT_REST ? "Kudu still flushes and compacts: " + work : "";
        },
        WITHOUT_CHANGE_MS);
  }

  private Work work(String tableId) throws Exception {
    Work sum = Work.NONE;
    for (KuduServer server : servers) {
      sum = sum.plus(server.work(tableId));
    }
    return sum;
  }

  /**
   * {@code rows}: as clients read them. {@code background_runs}: flushes and compactions of the table so far. Tablets
   * are those of the servers with the fewest and the most. What decides on durability is as the servers show it.
   */
  @Override
  public Map<String, Object> state(String table) throws Exception {
    Map<String, Object> state = new TreeMap<>();
    String tableId = client.openTable(table).getTableId();
    Work work = Work.NONE;
    LongSummaryStatistics tablets = new LongSummaryStatistics();
    TreeSet<String> synced = new TreeSet<>();
    for (KuduServer server : servers) {
      Work here = server.work(tableId);
      work = work.plus(here);
      tablets.accept(here.tablets());
      synced.add(server.flag("log_force_fsync_all"));
    }
    state.put("tablets_of_fewest", tablets.getMin());
    state.put("tablets_of_most", tablets.getMax());
    state.put("background_runs", work.runs());
    state.put("files_bytes", work.bytes());
    state.put("log_force_fsync_all", String.join(" and ", synced));
    state.put("rows", rows(table));
    return state;
  }

  private long rows(String table) throws KuduException {
    KuduScanner keys =
        client
            .newScannerBuilder(client.openTable(table))
            .setProjectedColumnNames(List.of(KuduRows.KEY))
            .cacheBlocks(false)
            .build();
    long rows = 0;
    for (RowResult row : keys) {
      rows += row.isNull(0) ? 0 : 1;
    }
    return rows;
  }

  @Override
  public void close() throws DBException {
    KuduConnection.close(client);
  }
}
