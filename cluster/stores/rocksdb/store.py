"""RocksDB: in the client's process, on the worker's disk and with its memory. It has no daemon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from density_study.cluster.model.store import Durability
from density_study.cluster.stack.machine_software import MachineSoftware
from density_study.cluster.stack.store_software import StoreSoftware, library_of_clients
from density_study.cluster.stores.store import ClusterStore, Where

BUFFERS_MIB = 128
OVERHEAD_MIB = 64
"""Iterators, table readers and threads, beyond cache and write buffers."""


class RocksDb(ClusterStore):
    name = "rocksdb"
    title = "RocksDB"
    acknowledged: ClassVar[Mapping[Durability, str]] = {
        "memory": "WriteOptions.disableWAL",
        "page_cache": "a write-ahead log without sync",
        "synced": "WriteOptions.sync",
    }
    workers = 1
    drives = 1
    embedded = True
    db = "org.densitystudy.stores.rocksdb.RocksDbClient"
    admin = "org.densitystudy.stores.rocksdb.RocksDbAdmin"

    def software(self, machine: MachineSoftware) -> StoreSoftware:
        return library_of_clients(self.title, "rocksdbjni")

    def client_properties(self, where: Where) -> Mapping[str, str]:
        (worker,) = where.cluster.topology.workers
        return {
            "rocksdb.path": f"{where.data()[worker.name]}/rocksdb",
            "rocksdb.cache.mib": str(worker.memory_mib - BUFFERS_MIB - OVERHEAD_MIB),
            "rocksdb.buffers.mib": str(BUFFERS_MIB),
            "durability": self.durability,
        }


STORES = (RocksDb,)
