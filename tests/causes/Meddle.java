import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.ValueFilter;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * {@code Meddle VERB TABLE AT_MS FOR_MS THREADS EVERY_MS}: another client disturbs a cluster from the epoch time
 * AT_MS on. It connects before, so that its start is no part of the disturbance. Prints {"begun": s} and
 * {"ended": s}, as cluster/machine/held.py does.
 */
public final class Meddle {
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final int LARGE = 100_000;

  private interface Act {
    void once() throws Exception;
  }

  private final Connection connection;
  private final Admin admin;
  private final TableName table;
  private final long untilMs;
  private final long everyMs;

  private Meddle(Connection connection, TableName table, long untilMs, long everyMs) throws Exception {
    this.connection = connection;
    this.admin = connection.getAdmin();
    this.table = table;
    this.untilMs = untilMs;
    this.everyMs = everyMs;
  }

  public static void main(String[] words) throws Exception {
    long atMs = Long.parseLong(words[2]);
    long untilMs = atMs + Long.parseLong(words[3]);
    int threads = Integer.parseInt(words[4]);
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create())) {
      Meddle meddle =
          new Meddle(connection, TableName.valueOf(words[1]), untilMs, Long.parseLong(words[5]));
      Act act = meddle.prepared(words[0]);
      Thread.sleep(Math.max(0, atMs - System.currentTimeMillis()));
      print("begun");
      meddle.repeated(act, threads);
      print("ended");
    }
    System.exit(0); // HBase's client leaves non-daemon threads behind
  }

  private static void print(String what) {
    System.out.printf("{\"%s\": %.3f}%n", what, System.currentTimeMillis() / 1000.0);
  }

  private Act prepared(String verb) throws Exception {
    admin.getRegions(table);
    switch (verb) {
      case "compact":
        return this::compact;
      case "flush":
        return () -> admin.flush(table);
      case "clear":
        return () -> admin.clearBlockCache(table);
      case "scan":
        return this::scan;
      case "get":
        List<byte[]> rows = rowsOfOneRegion();
        return () -> read(rows);
      case "put":
        TableName target = other();
        return () -> write(target);
      case "move":
        return everyMs > 0 ? () -> move(1) : () -> moveOnce();
      default:
        throw new IllegalArgumentException(verb);
    }
  }

  private void repeated(Act act, int threads) throws Exception {
    List<Thread> running = new ArrayList<>();
    for (int n = 0; n < threads; n++) {
      Thread thread = new Thread(() -> whileDue(act));
      thread.start();
      running.add(thread);
    }
    for (Thread thread : running) {
      thread.join(Math.max(1, untilMs - System.currentTimeMillis()));
    }
  }

  private void whileDue(Act act) {
    while (System.currentTimeMillis() < untilMs) {
      try {
        act.once();
        Thread.sleep(everyMs);
      } catch (InterruptedException stopped) {
        return;
      } catch (Exception failure) { // a region that moves, a busy server: it goes on
        System.err.println(failure);
      }
    }
  }

  private void compact() throws Exception {
    if (admin.getCompactionState(table) == CompactionState.NONE) {
      admin.majorCompact(table);
    }
    Thread.sleep(200);
  }

  /** All rows, of which the filter lets none pass: each call holds a handler until its time limit. */
  private void scan() throws Exception {
    Scan scan = new Scan().setCacheBlocks(false);
    scan.setFilter(new ValueFilter(CompareOperator.EQUAL, new BinaryComparator(Bytes.toBytes("none"))));
    try (Table rows = connection.getTable(table);
        ResultScanner found = rows.getScanner(scan)) {
      for (Result row = found.next(); row != null && System.currentTimeMillis() < untilMs; ) {
        row = found.next();
      }
    }
  }

  private List<byte[]> rowsOfOneRegion() throws Exception {
    RegionInfo region = regions().get(0);
    List<byte[]> rows = new ArrayList<>();
    Scan scan = new Scan().withStartRow(region.getStartKey()).setLimit(200);
    try (Table table = connection.getTable(this.table);
        ResultScanner found = table.getScanner(scan)) {
      found.forEach(row -> rows.add(row.getRow()));
    }
    return rows;
  }

  private void read(List<byte[]> rows) throws Exception {
    try (Table table = connection.getTable(this.table)) {
      table.get(new Get(rows.get(ThreadLocalRandom.current().nextInt(rows.size()))));
    }
  }

  /** A table with a region on each server, which stays: making it takes seconds. */
  private TableName other() throws Exception {
    TableName name = TableName.valueOf(table.getNamespaceAsString(), "meddled");
    if (!admin.tableExists(name)) {
      byte[][] splits = {Bytes.toBytes("3"), Bytes.toBytes("6")};
      admin.createTable(
          TableDescriptorBuilder.newBuilder(name)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
              .build(),
          splits);
    }
    return name;
  }

  private void write(TableName name) throws Exception {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    byte[] value = new byte[LARGE];
    random.nextBytes(value);
    try (Table rows = connection.getTable(name)) {
      List<Put> puts = new ArrayList<>();
      for (int n = 0; n < 10; n++) {
        byte[] row = String.format("%09d", random.nextInt(1_000_000_000)).getBytes(StandardCharsets.US_ASCII);
        puts.add(new Put(row).addColumn(FAMILY, FAMILY, value));
      }
      rows.put(puts);
    }
  }

  private void moveOnce() throws Exception {
    move(Integer.MAX_VALUE);
    Thread.sleep(Math.max(0, untilMs - System.currentTimeMillis()));
  }

  /** Moves up to that many regions at once, each to the server after its own; later ones first the next time. */
  private void move(int most) throws Exception {
    List<ServerName> servers = new ArrayList<>(admin.getRegionServers());
    servers.sort(Comparator.comparing(ServerName::getServerName));
    List<RegionInfo> regions = regions();
    List<Callable<Void>> moves = new ArrayList<>();
    for (int n = 0; n < Math.min(most, regions.size()); n++) {
      RegionInfo region = regions.get((moved++) % regions.size());
      moves.add(() -> moveOn(region, servers));
    }
    ExecutorService pool = Executors.newFixedThreadPool(moves.size());
    try {
      for (Future<Void> move : pool.invokeAll(moves)) {
        try {
          move.get();
        } catch (ExecutionException failure) { // one stays where it is
          System.err.println(failure);
        }
      }
    } finally {
      pool.shutdownNow();
    }
  }

  private Void moveOn(RegionInfo region, List<ServerName> servers) throws Exception {
    ServerName at =
        connection.getRegionLocator(table).getRegionLocation(region.getStartKey(), true).getServerName();
    admin.move(region.getEncodedNameAsBytes(), servers.get((servers.indexOf(at) + 1) % servers.size()));
    return null;
  }

  private int moved;

  private List<RegionInfo> regions() throws Exception {
    return admin.getRegions(table);
  }
}
