package org.densitystudy.table;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.SnapshotDescription;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;

/**
 * drop, forget NAME, splittable, split, each with --table; {@link Snapshot} and {@link Restore}. forget deletes a
 * snapshot if it is there, whatever table it is of. Tables of a study may not split: splittable allows it, and split
 * splits each region in two, all at once, and returns when every daughter is open.
 */
record TableLife(Act act, TableName table, String snapshot) implements Task {
  private static final String BY_SIZE =
      "org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy";
  private static final int MINUTES = 30;

  record Done(String table, String snapshot) {}

  interface Act {
    void on(Admin admin, TableName table, String snapshot) throws Exception;
  }

  static Task drop(Arguments arguments) {
    return new TableLife(TableLife::drop, arguments.table(), null);
  }

  static Task forget(Arguments arguments) {
    return new TableLife(TableLife::forget, arguments.table(), named(arguments));
  }

  static Task split(Arguments arguments) {
    return new TableLife(TableLife::split, arguments.table(), null);
  }

  static Task splittable(Arguments arguments) {
    return new TableLife(TableLife::allowSplits, arguments.table(), null);
  }

  @Override
  public Done run(Session session) throws Exception {
    act.on(session.admin(), table, snapshot);
    return new Done(table.getNameAsString(), snapshot);
  }

  private static void drop(Admin admin, TableName table, String unused) throws IOException {
    disable(admin, table);
    admin.deleteTable(table);
  }

  /** Of a size that no region of a study reaches: what splits is told to. The servers' own policy forbids all. */
  private static void allowSplits(Admin admin, TableName table, String unused) throws IOException {
    TableDescriptor now = admin.getDescriptor(table);
    admin.modifyTable(
        TableDescriptorBuilder.newBuilder(now)
            .setSplitEnabled(true)
            .setRegionSplitPolicyClassName(BY_SIZE)
            .setMaxFileSize(1L << 50)
            .build());
  }

  private static void split(Admin admin, TableName table, String unused) throws Exception {
    admin.splitSwitch(true, true);
    try {
      List<Future<Void>> splits = new ArrayList<>();
      for (RegionInfo region : admin.getRegions(table)) {
        splits.add(admin.splitRegionAsync(region.getRegionName()));
      }
      for (Future<Void> split : splits) {
        split.get(MINUTES, TimeUnit.MINUTES);
      }
    } finally {
      admin.splitSwitch(false, true);
    }
  }

  private static void forget(Admin admin, TableName unused, String name) throws IOException {
    if (admin.listSnapshots().stream().anyMatch(snapshot -> name.equals(snapshot.getName()))) {
      admin.deleteSnapshot(name);
    }
  }

  private static void disable(Admin admin, TableName table) throws IOException {
    if (admin.isTableEnabled(table)) {
      admin.disableTable(table);
    }
  }

  /** snapshot NAME --table T: take it, and answer where the table's regions are. */
  record Snapshot(TableName table, String name) implements Task {
    record Taken(String table, String snapshot, Places places) {}

    static Task parse(Arguments arguments) {
      return new Snapshot(arguments.table(), named(arguments));
    }

    @Override
    public Taken run(Session session) throws IOException {
      session.admin().snapshot(name, table);
      return new Taken(table.getNameAsString(), name, Places.read(session.connection(), table));
    }
  }

  /**
   * restore NAME --table T [--servers HOST:PORT,... --places INDEX,...]: return the table to the snapshot's state,
   * enabled, with its regions at these places, or else where they were. The snapshot is kept. HBase opens the regions
   * of an enabled table anywhere, also far from their blocks.
   */
  record Restore(TableName table, String name, Places places) implements Task {
    record Restored(String table, String snapshot, int moved) {}

    static Task parse(Arguments arguments) {
      return new Restore(arguments.table(), named(arguments), Places.parse(arguments));
    }

    /** Looks the snapshot up first, because a missing one must not leave the table disabled. */
    @Override
    public Restored run(Session session) throws Exception {
      Admin admin = session.admin();
      List<String> held =
          admin.listSnapshots().stream()
              .filter(snapshot -> table.equals(snapshot.getTableName()))
              .map(SnapshotDescription::getName)
              .toList();
      if (!held.contains(name)) {
        throw new IOException("no snapshot " + name + " of " + table + "; there are " + held);
      }
      Places to = places;
      if (admin.isTableEnabled(table)) {
        to = places == null ? Places.read(session.connection(), table) : places;
        admin.disableTable(table);
      }
      admin.restoreSnapshot(name, false);
      admin.enableTable(table);
      int moved = to == null ? 0 : to.putBack(session.connection(), table);
      return new Restored(table.getNameAsString(), name, moved);
    }
  }

  private static String named(Arguments arguments) {
    return arguments.value("the snapshot's name");
  }
}
