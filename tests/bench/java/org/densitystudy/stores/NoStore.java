package org.densitystudy.stores;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/** A binding that does nothing: what YCSB itself takes for an operation. It uses up the values that it is to write. */
public final class NoStore extends DB {
  @Override
  public Status read(
      String table, String key, Set<String> wanted, Map<String, ByteIterator> result) {
    return Status.OK;
  }

  @Override
  public Status scan(
      String table,
      String start,
      int rows,
      Set<String> wanted,
      Vector<HashMap<String, ByteIterator>> result) {
    return Status.NOT_IMPLEMENTED;
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    values.values().forEach(ByteIterator::toArray);
    return Status.OK;
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return update(table, key, values);
  }

  @Override
  public Status delete(String table, String key) {
    return Status.OK;
  }
}
