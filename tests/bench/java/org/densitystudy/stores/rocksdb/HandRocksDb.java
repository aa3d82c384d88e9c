package org.densitystudy.stores.rocksdb;

import java.util.Properties;
import org.densitystudy.stores.HandStore;
import org.densitystudy.stores.Rows;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.WriteOptions;

/** An entry for each field, by RocksDB's Java API: its key is the row's, a NUL, and the field's name. */
public final class HandRocksDb implements HandStore {
  private final RocksDB database;
  private final WriteOptions writes;

  public HandRocksDb(Properties properties) throws Exception {
    database = RocksDb.SHARED.acquire(properties).database(); // a process has it once
    writes = RocksDb.writeOptions(properties.getProperty("durability"));
  }

  /** The row ends before its key with a byte above NUL. */
  @Override
  public int read(String key) throws Exception {
    int fields = 0;
    try (Slice end = new Slice(Rows.bytes(key + '\1'));
        ReadOptions reads = new ReadOptions().setIterateUpperBound(end);
        RocksIterator entries = database.newIterator(reads)) {
      for (entries.seek(Rows.bytes(key + '\0')); entries.isValid(); entries.next()) {
        entries.key();
        entries.value();
        fields++;
      }
      entries.status();
    }
    return fields;
  }

  @Override
  public void update(String key, String field, byte[] value) throws Exception {
    database.put(writes, Rows.bytes(key + '\0' + field), value);
  }

  @Override
  public void close() throws Exception {
    writes.close();
    RocksDb.SHARED.release();
  }
}
