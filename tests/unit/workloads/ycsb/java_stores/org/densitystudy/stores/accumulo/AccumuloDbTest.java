package org.densitystudy.stores.accumulo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.SortedSet;
import java.util.stream.Collectors;
import org.apache.accumulo.core.client.admin.NewTableConfiguration;
import org.apache.accumulo.core.data.ColumnUpdate;
import org.apache.accumulo.core.data.Mutation;
import org.apache.hadoop.io.Text;
import org.densitystudy.ycsb.YcsbKeys;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.StringByteIterator;

class AccumuloDbTest {
  private static Properties of(String... pairs) {
    Properties properties = new Properties();
    for (String pair : pairs) {
      properties.setProperty(pair.split("=")[0], pair.split("=")[1]);
    }
    return properties;
  }

  @Test
  void aRowIsOneMutationWithAnEntryForEachField() {
    Map<String, ByteIterator> values = new HashMap<>();
    values.put("field0", new StringByteIterator("a"));
    values.put("field1", new StringByteIterator("b"));
    Mutation mutation = AccumuloDb.mutation("user1", values);
    assertEquals("user1", new String(mutation.getRow()));
    Map<String, String> entries =
        mutation.getUpdates().stream()
            .collect(
                Collectors.toMap(
                    one -> new String(one.getColumnQualifier()),
                    (ColumnUpdate one) ->
                        new String(one.getColumnFamily()) + " " + new String(one.getValue())));
    assertEquals(Map.of("field0", "f a", "field1", "f b"), entries);
  }

  @Test
  void aTableIsLikeHBases() throws DBException {
    NewTableConfiguration table =
        AccumuloAdmin.configuration(of("accumulo.durability=sync", "tablets=4"));
    Map<String, String> set = table.getProperties();
    assertEquals("sync", set.get("table.durability"));
    assertEquals("none", set.get("table.file.compress.type"));
    assertEquals("true", set.get("table.cache.block.enable"));
    assertEquals("1", set.get("table.iterator.scan.vers.opt.maxVersions"));
    assertEquals(3, table.getSplits().size());
  }

  @Test
  void durabilityHasNoPreset() {
    assertThrows(DBException.class, () -> AccumuloAdmin.configuration(of("tablets=2")));
  }

  @Test
  void tabletsAreCutAsRegionsAre() {
    SortedSet<Text> hashed = AccumuloAdmin.splits(of("tablets=10", "insertorder=hashed"));
    assertEquals(9, hashed.size());
    assertEquals(new Text(YcsbKeys.padded(1).splits(10)[0]), hashed.first());
    SortedSet<Text> ordered =
        AccumuloAdmin.splits(
            of("tablets=2", "insertorder=ordered", "zeropadding=4", "recordcount=100"));
    assertEquals(new Text("user0050"), ordered.first());
    assertTrue(AccumuloAdmin.splits(new Properties()).isEmpty());
  }

  @Test
  void serversHaveAsManyTabletsAsEachOther() {
    assertEquals("", AccumuloAdmin.uneven(Map.of("a:1", 5, "b:1", 5), 2));
    assertEquals("", AccumuloAdmin.uneven(Map.of("a:1", 1), 2));
    assertTrue(AccumuloAdmin.uneven(Map.of("a:1", 6, "b:1", 4), 2).contains("not spread"));
    assertTrue(AccumuloAdmin.uneven(Map.of("a:1", 2), 2).contains("not spread"));
  }
}
