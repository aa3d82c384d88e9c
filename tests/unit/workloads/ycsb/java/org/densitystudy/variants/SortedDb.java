package org.densitystudy.variants;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.Vector;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/** A table in memory, sorted by key; it records the number of rows of each scan. */
final class SortedDb extends DB {
  final TreeMap<String, Map<String, String>> rows = new TreeMap<>();
  final Vector<Integer> scanned = new Vector<>();
  int reads;

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    reads++;
    Map<String, String> row = rows.get(key);
    if (row == null) {
      return Status.NOT_FOUND;
    }
    row.forEach((name, text) -> result.put(name, new StringByteIterator(text)));
    return Status.OK;
  }

  @Override
  public Status scan(
      String table,
      String key,
      int count,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    rows.tailMap(key).values().stream()
        .limit(count)
        .forEach(
            row -> {
              HashMap<String, ByteIterator> values = new HashMap<>();
              row.forEach((name, text) -> values.put(name, new StringByteIterator(text)));
              result.add(values);
            });
    scanned.add(result.size());
    return Status.OK;
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return Status.NOT_IMPLEMENTED;
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    Map<String, String> row = new HashMap<>();
    values.forEach((name, value) -> row.put(name, value.toString()));
    rows.put(key, row);
    return Status.OK;
  }

  @Override
  public Status delete(String table, String key) {
    return Status.NOT_IMPLEMENTED;
  }
}
