"""What a YCSB test case's table takes: disk space, and the time to load and to compact it."""

from __future__ import annotations

from collections.abc import Hashable

from density_study.cluster.model.topology import AnyTopology, Jit
from density_study.workloads.ycsb.knobs import STEADY_ESTIMATE_S
from density_study.workloads.ycsb.parameters import YcsbParameters
from density_study.workloads.ycsb.row import Row
from density_study.workloads.ycsb.variant_store import STORED_ROW_MIB as STORED_VARIANT_MIB
from density_study.workloads.ycsb.variant_store import VALUE_MIB

LOAD_ESTIMATE_OPS_S = 6000.0
"""Rows per second of a load with 8 threads on two cores."""
THREAD_LOADS_OPS_S = LOAD_ESTIMATE_OPS_S / 8
MOST_LOADS_OPS_S = 24_000.0
"""Of three workers that keep 3 replicas, 8,000 rows/s each; a run replaces the estimate."""
LOAD_LIMIT_IN_ESTIMATES, LEAST_LOAD_LIMIT_S = 5.0, 7200.0
COMPACTION_MIB_S = 50.0
"""MiB/s of a RegionServer: the default of hbase.hstore.compaction.throughput.lower.bound, its limit while few
files wait."""
SLOWEST_COMPACTION_MIB_S = 5.0
"""Below, the disks count as broken."""
# WAL, store files, and the output of a major compaction before the old files are deleted.
COPIES_ON_DISK = 3


class Loading(YcsbParameters):
    """One YCSB run, seen from its table."""

    @property
    def data_mib(self) -> float:
        """Size of the data set before the run: one replica, without HBase's overhead."""
        return self.records * (self.row.size_mib if self.variants is None else VALUE_MIB)

    def disk_use(self, replication: int) -> tuple[str, float]:
        rows = self.records + self._written_rows
        return self.workload, rows * self._stored_row_mib * COPIES_ON_DISK * replication

    @property
    def _stored_row_mib(self) -> float:
        return self.row.stored_mib if self.variants is None else STORED_VARIANT_MIB

    @property
    def table_shape(self) -> tuple[int, int]:
        return self.regions_per_server, self.row.fields

    @property
    def _written_rows(self) -> float:
        """Most rows that a phase inserts. A rate that is not known yet is a share of a load's. Updates
        replace rows: compactions remove the old ones."""
        if self.phase is None:
            return 0.0
        percent = self.target_percent or 0.0
        highest_ops_s = self.target_ops_s or percent / 100 * LOAD_ESTIMATE_OPS_S
        inserts = self.mix_facts.shares["insert"]
        return inserts * self.phase.operations(highest_ops_s, self.warm_up_s)

    @property
    def load_limit_s(self) -> float:
        """How long loading the table may take before it counts as hung."""
        slow_s = self._larger * self.records / LOAD_ESTIMATE_OPS_S
        slow_s = max(slow_s, self._paced_s(self.target_ops_s if self.is_load else None))
        return max(LEAST_LOAD_LIMIT_S, LOAD_LIMIT_IN_ESTIMATES * slow_s)

    @property
    def prepared(self) -> Hashable | None:
        return None if self.is_load else self._table

    def is_prepared_once(self, topology: AnyTopology) -> bool:
        return topology.store.restores

    def prepare_estimate_s(self, topology: AnyTopology, is_written: bool) -> float:
        paced_s = self._paced_s(topology.existing.limits.ops_s if topology.existing else None)
        load_s = 0.0 if is_written else max(self._load_s, paced_s)
        return load_s + self.compaction_s(topology, COMPACTION_MIB_S)

    def compaction_s(self, topology: AnyTopology, mib_s: float) -> float:
        """To major-compact the loaded table at this rate of each RegionServer; 0 for other stores."""
        if not topology.store.restores:
            return 0.0
        servers = max(1, sum(node.regionservers for node in topology.workers))
        return self.records * self._stored_row_mib / servers / mib_s

    @property
    def _table(self) -> tuple[Hashable, ...]:
        return (self.records, self.row, self.insert_order, self.variants, self.has_neighbour)

    def warm_up_estimate_s(self, jit: Jit) -> float:
        if not self.until_steady:
            return 2 * self.warm_up_daemons_s
        return STEADY_ESTIMATE_S[jit]

    @property
    def _load_s(self) -> float:
        """Estimated time to load the table. Large rows take as much longer as they are larger."""
        threads = self.threads if self.is_load else max(self.warm_up_threads or 0, self.threads)
        rate_ops_s = min(THREAD_LOADS_OPS_S * threads, MOST_LOADS_OPS_S)
        own_s = self._larger * self.records / rate_ops_s
        return max(own_s, self._paced_s(self.target_ops_s if self.is_load else None))

    def _paced_s(self, ops_s: float | None) -> float:
        """To load all rows at this rate; None: there is no limit."""
        return 0.0 if ops_s is None else self.records / ops_s

    @property
    def _larger(self) -> float:
        return max(1.0, self.row.size_mib / Row().size_mib)
