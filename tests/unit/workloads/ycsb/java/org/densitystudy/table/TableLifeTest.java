package org.densitystudy.table;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.SnapshotDescription;
import org.junit.jupiter.api.Test;

class TableLifeTest {
  private final List<String> deleted = new ArrayList<>();

  @Test
  void aSnapshotIsForgottenWhateverTableItIsOf() throws Exception {
    forget("of-an-act", List.of(held("of-an-act", "other"), held("t-loaded", "t")));
    assertEquals(List.of("of-an-act"), deleted);
  }

  @Test
  void aSnapshotThatIsNotThereNeedsNoForgetting() throws Exception {
    forget("of-an-act", List.of(held("t-loaded", "t")));
    assertEquals(List.of(), deleted);
  }

  private void forget(String name, List<SnapshotDescription> held) throws Exception {
    Arguments arguments = new Arguments(List.of("forget", name, "--table", "t"));
    TableLife life = (TableLife) TableLife.forget(arguments);
    life.act().on(admin(held), life.table(), life.snapshot());
  }

  private static SnapshotDescription held(String name, String table) {
    return new SnapshotDescription(name, TableName.valueOf(table));
  }

  private Admin admin(List<SnapshotDescription> held) {
    Class<?>[] types = {Admin.class};
    return (Admin)
        Proxy.newProxyInstance(
            Admin.class.getClassLoader(),
            types,
            (proxy, method, values) ->
                switch (method.getName()) {
                  case "listSnapshots" -> held;
                  case "deleteSnapshot" -> {
                    deleted.add((String) values[0]);
                    yield null;
                  }
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }
}
