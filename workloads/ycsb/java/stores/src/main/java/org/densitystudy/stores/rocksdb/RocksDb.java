package org.densitystudy.stores.rocksdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.densitystudy.stores.Rows;
import org.densitystudy.stores.Shared;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import site.ycsb.DBException;

/**
 * One database per JVM, opened by the first thread and closed by the last.
 *
 * <p>{@code -p rocksdb.path=FOLDER -p rocksdb.cache.mib=N -p rocksdb.buffers.mib=N -p
 * durability=memory|page_cache|synced}. Memory: a cache of blocks, their indexes and filters, and write buffers.
 */
final class RocksDb {
  private static final int BUFFERS = 2;
  static {
    RocksDB.loadLibrary(); // before any of its classes
  }

  static final Shared<RocksDb> SHARED = new Shared<>(RocksDb::opened, RocksDb::close);

  private final RocksDB database;
  private final Options options;
  private final LRUCache cache;
  private final WriteOptions writes;
  private final ReadOptions reads = new ReadOptions();

  private RocksDb(Properties properties) throws DBException, RocksDBException, IOException {
    Path path = Path.of(Rows.needed(properties, "rocksdb.path"));
    long cacheBytes = Long.parseLong(Rows.needed(properties, "rocksdb.cache.mib")) << 20;
    long bufferBytes = Long.parseLong(Rows.needed(properties, "rocksdb.buffers.mib")) << 20;
    writes = writeOptions(Rows.needed(properties, "durability"));
    Files.createDirectories(path);
    cache = new LRUCache(cacheBytes);
    options =
        new Options()
            .setCreateIfMissing(true)
            .setWriteBufferSize(bufferBytes / BUFFERS)
            .setMaxWriteBufferNumber(BUFFERS)
            .setTableFormatConfig(
                new BlockBasedTableConfig()
                    .setBlockCache(cache)
                    .setCacheIndexAndFilterBlocks(true)
                    .setFilterPolicy(new BloomFilter(10)));
    database = RocksDB.open(options, path.toString());
  }

  /** The level's write options; DBException for a name that is none. */
  static WriteOptions writeOptions(String durability) throws DBException {
    return switch (durability) {
      case "memory" -> new WriteOptions().setDisableWAL(true);
      case "page_cache" -> new WriteOptions();
      case "synced" -> new WriteOptions().setSync(true);
      default -> throw new DBException("durability=" + durability + " is no level of RocksDB");
    };
  }

  private static RocksDb opened(Properties properties) throws DBException {
    try {
      return new RocksDb(properties);
    } catch (RocksDBException | IOException failure) {
      throw new DBException("cannot open RocksDB: " + failure, failure);
    }
  }

  /** What lies in write buffers alone, without a log, is flushed. */
  private void close() throws DBException {
    try {
      database.closeE();
    } catch (RocksDBException failure) {
      throw new DBException("RocksDB could not be closed", failure);
    } finally {
      options.close();
      cache.close();
      writes.close();
      reads.close();
    }
  }

  RocksIterator iterator() {
    return database.newIterator(reads);
  }

  void write(WriteBatch batch) throws RocksDBException {
    database.write(writes, batch);
  }

  RocksDB database() {
    return database;
  }
}
