"""RocksDB as a store."""
