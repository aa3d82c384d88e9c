package org.densitystudy.ycsb;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * YCSB's field names as HBase's qualifiers, and back, without encoding the same ten names for every
 * row. One instance a thread.
 */
final class FieldNames {
  private final Map<String, byte[]> qualifiers = new HashMap<>();

  /** Cells of a row come sorted, and rows are alike: the n-th cell mostly has the n-th name. */
  private String[] names = new String[16];

  private byte[][] encoded = new byte[16][];

  byte[] qualifier(String name) {
    return qualifiers.computeIfAbsent(name, Bytes::toBytes);
  }

  /** The name of the cell's qualifier. {@code position} counts the row's cells from 0. */
  String name(Cell cell, int position) {
    if (position >= names.length) {
      grow(position);
    }
    byte[] guess = encoded[position];
    if (guess == null || !same(guess, cell)) {
      remember(cell, position);
    }
    return names[position];
  }

  private static boolean same(byte[] guess, Cell cell) {
    return Bytes.equals(
        guess, 0, guess.length,
        cell.getQualifierArray(), cell.getQualifierOffset(), cell.getQualifierLength());
  }

  private void remember(Cell cell, int position) {
    String name =
        Bytes.toString(
            cell.getQualifierArray(), cell.getQualifierOffset(), cell.getQualifierLength());
    names[position] = name;
    encoded[position] = qualifier(name);
  }

  private void grow(int position) {
    int length = Math.max(position + 1, names.length * 2);
    names = Arrays.copyOf(names, length);
    encoded = Arrays.copyOf(encoded, length);
  }
}
