"""What a YCSB test case's table takes: disk space, and the time to load and to compact it."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator

from density_study.cluster.model.topology import AnyTopology, Jit
from density_study.workloads.base.hardware import Hardware, hardware_of
from density_study.workloads.base.test_case import LIMIT_IN_ESTIMATES
from density_study.workloads.ycsb.knobs import STEADY_ESTIMATE_S
from density_study.workloads.ycsb.parameters import YcsbParameters
from density_study.workloads.ycsb.row import Row
from density_study.workloads.ycsb.variant_store import STORED_ROW_MIB as STORED_VARIANT_MIB
from density_study.workloads.ycsb.variant_store import VALUE_MIB

LOAD_ESTIMATE_OPS_S = 6000.0
"""Rows of the usual size per second of a load with 8 threads on two cores, and of an existing cluster, whose
cores nobody knows. Larger rows take as much more of a core as they are larger."""
THREAD_LOADS_OPS_S = LOAD_ESTIMATE_OPS_S / 8
CORE_LOADS_OPS_S = LOAD_ESTIMATE_OPS_S / 2
SERVER_LOADS_OPS_S = 8000.0
"""For a server with 3 replicas: each row waits for them; estimated for the talk's three workers."""
SERVER_LOADS_MIB_S = 25.0
"""For a RegionServer: its compactions write at most 100 MiB/s
(hbase.hstore.compaction.throughput.higher.bound), and a row is compacted several times during a load."""
WRITES_OF_A_ROW = 4
"""To the drives of each replica: in the WAL, in a flushed file, and in two compactions."""
LEAST_LOAD_LIMIT_S = 7200.0
COMPACTION_MIB_S = 50.0
"""MiB/s of a RegionServer: HBase's default of COMPACTION_BOUND."""
COMPACTION_BOUND = "hbase.hstore.compaction.throughput.lower.bound"
"""Bytes/s: the limit of a RegionServer's compactions while few files wait."""
SLOWEST_COMPACTION_MIB_S = 5.0
"""Below, the disks count as broken."""
SLOWEST_COUNT_ROWS_S = 10_000.0
USUAL_REPLICAS = 3
COPY_MIB_S, COPY_JVMS_S = 100.0, 10.0
"""To put a copied table back: MiB/s of one client's writes, and three JVMs."""
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
        copies = COPIES_ON_DISK * replication + self.load_once
        return self.workload, rows * self._stored_row_mib * copies

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

    def load_limit_on(self, topology: AnyTopology) -> float:
        """Seconds that loading the table may take before it counts as hung."""
        return max(LEAST_LOAD_LIMIT_S, LIMIT_IN_ESTIMATES * self._load_on(topology))

    def limit_on(self, topology: AnyTopology) -> float:
        return LEAST_LOAD_LIMIT_S + super().limit_on(topology)

    @property
    def prepared(self) -> Hashable | None:
        return None if self.is_load else self._table

    def is_prepared_once(self, topology: AnyTopology) -> bool:
        return topology.store.restores or topology.store.write_once

    @property
    def table(self) -> str:
        """Its name."""
        if self.variants is not None:
            return self.variants.table
        row = f"_{self.row.name}" if self.row.name else ""
        order = f"_{self.insert_order}" if self.insert_order != "hashed" else ""
        return f"usertable_{self.records}{row}{order}{'_confined' if self.has_neighbour else ''}"

    def copied_on(self, topology: AnyTopology) -> str | None:
        return self.copy_on(topology) if self.is_copied_on(topology) else None

    def copy_on(self, topology: AnyTopology) -> str:
        """The name of a copy of the table, which clusters of the same format can take that have their client
        on the same host."""
        taken_by = f"{topology.table_format} {topology.client.host}"
        return f"{self.table}-{hashlib.sha256(taken_by.encode()).hexdigest()[:8]}"

    def is_copied_on(self, topology: AnyTopology) -> bool:
        """Whether later builds get the table from a copy: requested, and faster than a load."""
        return self.load_once and self._put_back_s < self._load_on(topology)

    @property
    def _put_back_s(self) -> float:
        return COPY_JVMS_S + self.records * self._stored_row_mib / COPY_MIB_S

    def prepare_estimate_s(
        self, topology: AnyTopology, is_written: bool, has_copy: bool = False
    ) -> float:
        load_s = 0.0 if is_written else self._load_on(topology)
        if has_copy:
            load_s = min(load_s, self._put_back_s)
        return load_s + self.limited_compaction_s(topology)

    def limited_compaction_s(self, topology: AnyTopology) -> float:
        """To major-compact the loaded table within the limit of the RegionServers."""
        own = topology.configuration.properties.get("hbase-site", {}).get(COMPACTION_BOUND)
        return self.compaction_s(topology, COMPACTION_MIB_S if own is None else int(own) / 2**20)

    def compaction_s(self, topology: AnyTopology, mib_s: float) -> float:
        """To major-compact the loaded table at this rate of each RegionServer; 0 for other stores."""
        if not topology.store.restores:
            return 0.0
        servers = max(1, sum(node.regionservers for node in topology.workers))
        return self.records * self._stored_row_mib / servers / mib_s

    def settling_limit_s(self, topology: AnyTopology) -> float:
        """For a store without snapshots to compact and to count the loaded rows, at the slowest rates."""
        of_worker_mib = (
            self.records * self._stored_row_mib * USUAL_REPLICAS / max(1, len(topology.workers))
        )
        return of_worker_mib / SLOWEST_COMPACTION_MIB_S + self.records / SLOWEST_COUNT_ROWS_S

    @property
    def _table(self) -> tuple[Hashable, ...]:
        return (self.records, self.row, self.insert_order, self.variants, self.has_neighbour)

    def warm_up_estimate_s(self, jit: Jit) -> float:
        if not self.until_steady:
            return (1 + self.beside_load) * self.warm_up_daemons_s
        return STEADY_ESTIMATE_S[jit]

    def _load_on(self, topology: AnyTopology) -> float:
        paced_s = self._paced_s(topology.existing.limits.ops_s if topology.existing else None)
        return max(self._load_s(hardware_of(topology)), paced_s)

    def _load_s(self, hardware: Hardware | None) -> float:
        """Estimated seconds to load the table, by its threads and these workers; None: two cores."""
        threads = self.threads if self.is_load else max(self.warm_up_threads or 0, self.threads)
        threads_s = self.records / (THREAD_LOADS_OPS_S * threads)
        paced_s = self._paced_s(self.target_ops_s if self.is_load else None)
        return max(threads_s, paced_s, *self._workers_s(hardware))

    def _workers_s(self, hardware: Hardware | None) -> Iterator[float]:
        """Yields what each of them needs at least: cores, servers by rows and by bytes, and drives."""
        cores = 2 if hardware is None else hardware.cores
        yield self._larger * self.records / (CORE_LOADS_OPS_S * cores)
        if hardware is not None:
            stored_mib = self.records * self._stored_row_mib
            yield self.records / (SERVER_LOADS_OPS_S * hardware.servers)
            yield stored_mib / (SERVER_LOADS_MIB_S * hardware.servers)
            yield stored_mib * WRITES_OF_A_ROW / hardware.written_mib_s

    def _paced_s(self, ops_s: float | None) -> float:
        """To load all rows at this rate; None: there is no limit."""
        return 0.0 if ops_s is None else self.records / ops_s

    @property
    def _larger(self) -> float:
        return max(1.0, self.row.size_mib / Row().size_mib)
