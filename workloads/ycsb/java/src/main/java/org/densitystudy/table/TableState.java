package org.densitystudy.table;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hadoop.hbase.Size;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.util.Bytes;

/** state --table T: where the regions are, their sizes and requests, as the servers report them now. */
record TableState(TableName table) implements Task {
  /** Sizes in whole MiB, rounded down; locality 0 to 1; requests since the region was opened. */
  record Region(
      String name,
      String startKey,
      String server,
      long readRequests,
      long writeRequests,
      int storeFiles,
      long storeFileMib,
      long memstoreMib,
      double locality,
      String compaction) {}

  /**
   * Regions and requests are those of the table; compactions are those of all tables. Compacting:
   * regions in a selected compaction, running or waiting for a thread. Queued: see
   * BackgroundWork; null without a web server.
   */
  record Server(
      String name,
      int regions,
      long readRequests,
      long writeRequests,
      int compactingRegions,
      Integer compactionsQueued) {}

  /**
   * Compacted cells: of the table's running compactions, and of each region's last one. Compactions and
   * splits: of all servers since they started; null if one does not show them.
   */
  record State(
      String table,
      List<Region> regions,
      List<Server> servers,
      int storeFiles,
      long storeFileMib,
      long memstoreMib,
      int compactingRegions,
      long compactedCells,
      Long compactions,
      Long splits) {}

  static Task parse(Arguments arguments) {
    return new TableState(arguments.table());
  }

  @Override
  public State run(Session session) throws Exception {
    return read(session.admin(), table);
  }

  static State read(Admin admin, TableName table) throws Exception {
    List<Region> regions = new ArrayList<>();
    List<Server> servers = new ArrayList<>();
    List<BackgroundWork> works = new ArrayList<>();
    long compactedCells = 0;
    for (ServerMetrics server : Session.liveServers(admin)) {
      String name = server.getServerName().getServerName();
      List<RegionMetrics> all = admin.getRegionMetrics(server.getServerName());
      List<RegionMetrics> ofTable =
          all.stream()
              .filter(metrics -> RegionInfo.getTable(metrics.getRegionName()).equals(table))
              .toList();
      List<Region> own = ofTable.stream().map(metrics -> region(metrics, name)).toList();
      compactedCells += ofTable.stream().mapToLong(RegionMetrics::getCompactedCellCount).sum();
      long compacting =
          all.stream().filter(m -> m.getCompactionState() != CompactionState.NONE).count();
      BackgroundWork work = BackgroundWork.of(server, admin.getConfiguration());
      works.add(work);
      regions.addAll(own);
      servers.add(
          new Server(
              name,
              own.size(),
              own.stream().mapToLong(Region::readRequests).sum(),
              own.stream().mapToLong(Region::writeRequests).sum(),
              (int) compacting,
              work == null ? null : work.compactionsQueued()));
    }
    if (regions.isEmpty()) { // an empty list would look like an empty table
      throw new IOException("no server has a region of " + table + ": is it there, and enabled?");
    }
    regions.sort(Comparator.comparing(Region::startKey));
    return new State(
        table.getNameAsString(),
        regions,
        servers,
        regions.stream().mapToInt(Region::storeFiles).sum(),
        regions.stream().mapToLong(Region::storeFileMib).sum(),
        regions.stream().mapToLong(Region::memstoreMib).sum(),
        servers.stream().mapToInt(Server::compactingRegions).sum(),
        compactedCells,
        total(works, BackgroundWork::compactions),
        total(works, BackgroundWork::splits));
  }

  /** Of all servers; null if one does not show it. */
  private static Long total(List<BackgroundWork> works, ToLongFunction<BackgroundWork> counter) {
    return works.contains(null) ? null : works.stream().mapToLong(counter).sum();
  }

  private static Region region(RegionMetrics metrics, String server) {
    return new Region(
        RegionInfo.encodeRegionName(metrics.getRegionName()),
        startKey(metrics.getRegionName()),
        server,
        metrics.getReadRequestCount(),
        metrics.getWriteRequestCount(),
        metrics.getStoreFileCount(),
        (long) metrics.getStoreFileSize().get(Size.Unit.MEGABYTE),
        (long) metrics.getMemStoreSize().get(Size.Unit.MEGABYTE),
        metrics.getDataLocality(),
        metrics.getCompactionState().name());
  }

  private static String startKey(byte[] regionName) {
    try {
      return Bytes.toStringBinary(RegionInfo.parseRegionName(regionName)[1]);
    } catch (IOException impossible) {
      throw new IllegalStateException("a server reports a region without a name", impossible);
    }
  }
}
