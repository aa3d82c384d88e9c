package org.densitystudy.stores.kudu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Arrays;
import java.util.Properties;
import org.apache.kudu.ColumnSchema.CompressionAlgorithm;
import org.apache.kudu.ColumnSchema.Encoding;
import org.apache.kudu.ColumnSchema;
import org.apache.kudu.Schema;
import org.apache.kudu.Type;
import org.apache.kudu.client.Responses;
import org.densitystudy.stores.kudu.KuduServer.Work;
import org.densitystudy.stores.Rows;
import org.junit.jupiter.api.Test;

class KuduTest {
  private static Properties properties(String... pairs) {
    Properties properties = new Properties();
    for (int i = 0; i < pairs.length; i += 2) {
      properties.setProperty(pairs[i], pairs[i + 1]);
    }
    return properties;
  }

  @Test
  void aTableHasANullableColumnForEachFieldAndIsNotCompressed() {
    Schema schema = KuduAdmin.schema(2);
    assertEquals(1, schema.getPrimaryKeyColumnCount());
    assertEquals(Type.STRING, schema.getColumn(KuduRows.KEY).getType());
    for (String name : new String[] {"field0", "field1"}) {
      ColumnSchema column = schema.getColumn(name);
      assertEquals(Type.BINARY, column.getType());
      assertTrue(column.isNullable());
    }
    for (ColumnSchema column : schema.getColumns()) {
      assertEquals(Encoding.PLAIN_ENCODING, column.getEncoding());
      assertEquals(CompressionAlgorithm.NO_COMPRESSION, column.getCompressionAlgorithm());
    }
    assertEquals(3, schema.getColumnCount());
  }

  @Test
  void tabletsBeginWhereKeysOfEqualPartsDo() throws Exception {
    byte[][] hashed = KuduAdmin.splits(properties("tablets", "6"), 2);
    assertEquals(5, hashed.length);
    String[] keys = Arrays.stream(hashed).map(Rows::text).toArray(String[]::new);
    String[] sorted = keys.clone();
    Arrays.sort(sorted);
    assertEquals(Arrays.asList(sorted), Arrays.asList(keys));
    byte[][] ordered =
        KuduAdmin.splits(
            properties(
                "tablets", "2", "insertorder", "ordered", "zeropadding", "4",
                "recordcount", "100"),
            1);
    assertEquals("user0050", Rows.text(ordered[0]));
  }

  @Test
  void withoutAPropertyEachServerHasATablet() throws Exception {
    assertEquals(0, KuduAdmin.splits(properties(), 1).length);
    assertEquals(2, KuduAdmin.splits(properties(), 3).length);
  }

  @Test
  void workIsThatOfTheTableAlone() throws Exception {
    String page =
        """
        [{"type": "tablet", "id": "1", "attributes": {"table_id": "mine"}, "metrics": [
           {"name": "flush_mrs_duration", "total_count": 3},
           {"name": "compact_rs_duration", "total_count": 1},
           {"name": "compact_rs_running", "value": 1},
           {"name": "on_disk_size", "value": 70},
           {"name": "rows_inserted", "value": 9}]},
         {"type": "tablet", "id": "2", "attributes": {"table_id": "mine"}, "metrics": [
           {"name": "flush_dms_duration", "total_count": 2},
           {"name": "on_disk_size", "value": 30}]},
         {"type": "tablet", "id": "3", "attributes": {"table_id": "dropped"}, "metrics": [
           {"name": "flush_mrs_duration", "total_count": 50}]}]
        """;
    assertEquals(new Work(2, 6, 1, 100), KuduServer.workIn(new ObjectMapper().readTree(page), "mine"));
  }

  @Test
  void aRowThatTheServerRefusedIsNoSuccess() {
    assertFalse(KuduRows.statusOf("INSERT", Responses.refused()).isOk());
    assertTrue(KuduRows.statusOf("INSERT", Responses.accepted()).isOk());
  }
}
