package org.densitystudy.ycsb;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Converts YCSB's field names to HBase's qualifiers and back, without encoding the same ten names for
 * every row. One instance per thread.
 */
final class FieldNames {
  private final Map<String, byte[]> qualifiers = new HashMap<>();

  /** Cells of a row are sorted, and rows are similar: the n-th cell usually has the n-th name. */
  private String[] names = new String[16];

  private byte[][] encoded = new byte[16][];

  byte[] qualifier(String name) {
    return qualifiers.computeIfAbsent(name, Bytes::toBytes);
  }

  /** The name of the cell's qualifier. {@code position} counts the row's cells from 0. */
  String name(Cell cell, int position) {
    if (position >= names.length) {
      names = Arrays.copyOf(names, 2 * position);
      encoded = Arrays.copyOf(encoded, 2 * position);
    }
    byte[] guess = encoded[position];
    if (guess == null || !CellUtil.matchingQualifier(cell, guess)) {
      names[position] = Bytes.toString(CellUtil.cloneQualifier(cell));
      encoded[position] = qualifier(names[position]);
    }
    return names[position];
  }
}
