package org.densitystudy.table;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.SnapshotDescription;

/**
 * drop, snapshot NAME, restore NAME, each with --table. Restoring returns the table to the snapshot's
 * state, enabled, and keeps the snapshot.
 */
record TableLife(Act act, TableName table, String snapshot) implements Task {
  record Done(String table, String snapshot) {}

  interface Act {
    void on(Admin admin, TableName table, String snapshot) throws IOException;
  }

  static Task drop(Arguments arguments) {
    return new TableLife(TableLife::drop, arguments.table(), null);
  }

  static Task snapshot(Arguments arguments) {
    return named(arguments, (admin, table, name) -> admin.snapshot(name, table));
  }

  static Task restore(Arguments arguments) {
    return named(arguments, TableLife::restore);
  }

  @Override
  public Done run(Session session) throws IOException {
    act.on(session.admin(), table, snapshot);
    return new Done(table.getNameAsString(), snapshot);
  }

  private static Task named(Arguments arguments, Act act) {
    return new TableLife(act, arguments.table(), arguments.value("the snapshot's name"));
  }

  private static void drop(Admin admin, TableName table, String unused) throws IOException {
    disable(admin, table);
    admin.deleteTable(table);
  }

  /** Looks the snapshot up first, because a missing one must not leave the table disabled. */
  private static void restore(Admin admin, TableName table, String name) throws IOException {
    List<String> held =
        admin.listSnapshots().stream()
            .filter(snapshot -> table.equals(snapshot.getTableName()))
            .map(SnapshotDescription::getName)
            .toList();
    if (!held.contains(name)) {
      throw new IOException("no snapshot " + name + " of " + table + "; there are " + held);
    }
    disable(admin, table);
    admin.restoreSnapshot(name, false);
    admin.enableTable(table);
  }

  private static void disable(Admin admin, TableName table) throws IOException {
    if (admin.isTableEnabled(table)) {
      admin.disableTable(table);
    }
  }
}
