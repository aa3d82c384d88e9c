package org.densitystudy.table;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.SnapshotDescription;

/**
 * snapshot NAME --table T: take it, and answer where its regions are. restore NAME --table T [--servers HOST:PORT,...
 * --places INDEX,...]: return the table to the snapshot's state, enabled, with its regions at these places, or else
 * where they were; the snapshot is kept. HBase opens the regions of an enabled table anywhere, also far from their
 * blocks.
 */
record Snapshot(TableName table, String name) implements Task {
  record Taken(String table, String snapshot, Places places) {}

  record Restored(String table, String snapshot, int moved) {}

  static Task parse(Arguments arguments) {
    return new Snapshot(arguments.table(), named(arguments));
  }

  @Override
  public Taken run(Session session) throws IOException {
    session.admin().snapshot(name, table);
    return new Taken(table.getNameAsString(), name, Places.read(session.connection(), table));
  }

  private static String named(Arguments arguments) {
    return arguments.value("the snapshot's name");
  }

  record Restore(TableName table, String name, Places places) implements Task {
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
}
