package org.densitystudy.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;

class FieldNamesTest {
  private final FieldNames fields = new FieldNames();

  @Test
  void namesFollowTheCellAndNotThePosition() {
    assertEquals("field0", fields.name(cell("field0"), 0));
    assertEquals("field1", fields.name(cell("field1"), 0));
    assertEquals("field0", fields.name(cell("field0"), 0));
    assertEquals("field", fields.name(cell("field"), 0));
  }

  @Test
  void rowsWithExtraColumnsAreReportedToo() {
    for (int i = 0; i < 100; i++) {
      assertEquals("field" + i, fields.name(cell("field" + i), i));
    }
  }

  @Test
  void alikeRowsShareOneName() {
    String first = fields.name(cell("field0"), 0);
    assertSame(first, fields.name(cell("field0"), 0));
    assertSame(fields.qualifier("field0"), fields.qualifier("field0"));
  }

  private static Cell cell(String qualifier) {
    byte[] row = Bytes.toBytes("row");
    return new KeyValue(row, Bytes.toBytes("f"), Bytes.toBytes(qualifier), row);
  }
}
