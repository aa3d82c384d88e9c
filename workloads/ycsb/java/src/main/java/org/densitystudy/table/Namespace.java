package org.densitystudy.table;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.NamespaceNotFoundException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNotFoundException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.SnapshotDescription;
import org.apache.hadoop.hbase.quotas.QuotaFilter;
import org.apache.hadoop.hbase.quotas.QuotaSettings;
import org.apache.hadoop.hbase.security.AccessDeniedException;
import org.apache.hadoop.hbase.security.User;

/**
 * namespace create|drop|state NAME --tag TAG: the namespace that holds all tables of a study on a cluster
 * of others. A property of the namespace keeps the tag. What has another tag, or none, is never changed.
 */
record Namespace(Act act, String name, String tag) implements Task {
  static final String TAG = "density.study.tag";

  /**
   * {@code tag}: null if the namespace does not exist; empty if it has none. {@code quotas}: on the
   * namespace, which may be set before it exists, and on the user; null if HBase does not tell.
   */
  record Held(
      String namespace,
      String tag,
      List<String> tables,
      List<String> snapshots,
      List<String> quotas) {}

  interface Act {
    void on(Admin admin, String name, String tag) throws IOException;
  }

  static Task parse(Arguments arguments) {
    String verb = arguments.value("create, drop or state");
    Act act =
        switch (verb) {
          case "create" -> Namespace::create;
          case "drop" -> Namespace::drop;
          case "state" -> (admin, name, tag) -> {};
          default -> throw arguments.wrong("takes create, drop or state, not %s", verb);
        };
    return new Namespace(act, arguments.value("the namespace"), arguments.option("tag"));
  }

  @Override
  public Held run(Session session) throws IOException {
    act.on(session.admin(), name, tag);
    return held(session.admin(), name);
  }

  private static Held held(Admin admin, String name) throws IOException {
    NamespaceDescriptor found = find(admin, name);
    if (found == null) {
      return new Held(name, null, List.of(), names(snapshots(admin, name)), quotas(admin, name));
    }
    String tag = found.getConfigurationValue(TAG);
    List<String> tables =
        Arrays.stream(admin.listTableNamesByNamespace(name))
            .map(TableName::getNameAsString)
            .toList();
    String tagOrNone = tag == null ? "" : tag;
    return new Held(
        name, tagOrNone, tables, names(snapshots(admin, name)), quotas(admin, name));
  }

  private static List<String> quotas(Admin admin, String name) throws IOException {
    String user = User.getCurrent().getShortName();
    List<String> found = new ArrayList<>();
    try {
      for (QuotaFilter filter :
          List.of(
              new QuotaFilter().setNamespaceFilter(Pattern.quote(name)),
              new QuotaFilter().setUserFilter(Pattern.quote(user)))) {
        for (QuotaSettings one : admin.getQuota(filter)) {
          found.add(one.toString());
        }
      }
      return found;
    } catch (TableNotFoundException disabled) {
      return List.of();
    } catch (AccessDeniedException secret) {
      return null;
    }
  }

  private static NamespaceDescriptor find(Admin admin, String name) throws IOException {
    try {
      return admin.getNamespaceDescriptor(name);
    } catch (NamespaceNotFoundException absent) {
      return null;
    }
  }

  private static void create(Admin admin, String name, String tag) throws IOException {
    if (find(admin, name) != null) {
      throw new IOException("the namespace " + name + " exists already");
    }
    admin.createNamespace(NamespaceDescriptor.create(name).addConfiguration(TAG, tag).build());
  }

  /** Nothing to do for a namespace that does not exist. Its tables' snapshots outlive the tables. */
  private static void drop(Admin admin, String name, String tag) throws IOException {
    NamespaceDescriptor found = find(admin, name);
    if (found == null) {
      return;
    }
    if (!tag.equals(found.getConfigurationValue(TAG))) {
      throw new IOException(
          "the namespace " + name + " has the tag " + found.getConfigurationValue(TAG));
    }
    for (SnapshotDescription snapshot : snapshots(admin, name)) {
      admin.deleteSnapshot(snapshot.getName());
    }
    for (TableName table : admin.listTableNamesByNamespace(name)) {
      if (admin.isTableEnabled(table)) {
        admin.disableTable(table);
      }
      admin.deleteTable(table);
    }
    admin.deleteNamespace(name);
  }

  private static List<SnapshotDescription> snapshots(Admin admin, String name) throws IOException {
    List<SnapshotDescription> found = new ArrayList<>();
    for (SnapshotDescription snapshot : admin.listSnapshots()) {
      TableName table = snapshot.getTableName();
      if (table != null && table.getNamespaceAsString().equals(name)) {
        found.add(snapshot);
      }
    }
    return found;
  }

  private static List<String> names(List<SnapshotDescription> snapshots) {
    return snapshots.stream().map(SnapshotDescription::getName).toList();
  }
}
