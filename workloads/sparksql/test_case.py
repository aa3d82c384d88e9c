"""`SparkSqlTestCase`: all queries of one table, with every knob fixed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Literal

from pydantic import Field

from density_study.cluster.clients.spark_on_yarn import executors
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import MIB
from density_study.cluster.model.plain import counted
from density_study.cluster.model.topology import AnyTopology
from density_study.workloads.base.hardware import hardware_of
from density_study.workloads.base.test_case import JobTestCase
from density_study.workloads.base.values import ClientFiles
from density_study.workloads.sparksql.queries import PARTS, QUERIES, ROW_BYTES

JOB_START_ESTIMATE_S = 20.0
CORE_ESTIMATE_MIB_S = 10.0
LEAST_PARTITIONS, PARTITIONS_OF_CORE, PARTITION_MIB = 200, 3, 512
"""For a shuffle: Spark's default; some waves of tasks; what a task sorts with few spills."""
RESULT = "sparksql-queries.csv"
_WHERE = "workloads, key sparksql"


class SparkSqlTestCase(JobTestCase):
    """One application answers the queries in their order."""

    workload: Literal["sparksql"] = "sparksql"
    size_mib: int = Field(gt=0, description="size of the table in MiB")
    files: int = Field(gt=0, description="files of the table")

    @property
    def id(self) -> str:
        return f"sparksql-{self.size_mib}m-n{self.files}"

    @property
    def label(self) -> str:
        return "Spark SQL"

    @property
    def mode_name(self) -> str:
        return "queries"

    @property
    def size_label(self) -> str:
        return f"{self.size_mib} MiB in {counted(self.files, 'file')}"

    @property
    def sort_key(self) -> tuple[float, ...]:
        return self.size_mib, self.files

    @property
    def rows(self) -> int:
        """Whole thousands, and at least one."""
        return max(1, self.size_mib * MIB // ROW_BYTES // PARTS) * PARTS

    @property
    def asked_bytes(self) -> int:
        return self.rows * ROW_BYTES

    def disk_use(self, replication: int) -> tuple[str, float]:
        shuffled = 2  # the join's and the sort's rows, until the application has ended
        return self.id, float(self.size_mib * (replication + shuffled))

    @property
    def estimate_s(self) -> float:
        return self._estimate_s(2)

    def estimate_on(self, topology: AnyTopology) -> float:
        hardware = hardware_of(topology)
        return self.estimate_s if hardware is None else self._estimate_s(hardware.cores)

    def _estimate_s(self, cores: int) -> float:
        work_s = len(QUERIES) * self.size_mib / (cores * CORE_ESTIMATE_MIB_S)
        return JOB_START_ESTIMATE_S + work_s

    def partitions_on(self, topology: AnyTopology) -> int:
        """The partitions of a shuffle, by the hosts' cores and the table: equal at every density."""
        hardware = hardware_of(topology)
        of_cores = PARTITIONS_OF_CORE * (hardware.cores if hardware else 0)
        return max(LEAST_PARTITIONS, of_cores, self.size_mib // PARTITION_MIB)

    @property
    def prepared(self) -> Hashable | None:
        return self.id

    def limit_on(self, topology: AnyTopology) -> float:
        return 2 * self.job_limit_on(topology)

    def check_topology(self, topology: AnyTopology) -> None:
        if not topology.store.hadoop:
            return  # it is left out there
        if not topology.provider.here:
            raise InputError(
                f"the driver needs the Spark of this machine, and nodes of {topology.name} are on others.",
                _WHERE,
                "use provider local, or container without the key ssh; or leave it out.",
                ("workloads",),
            )
        executors(topology)

    def raw_files(self, client: ClientFiles) -> Iterator[tuple[str, str]]:
        yield "sparksql-queries", f"raw/{RESULT}"

    def table_row(self) -> dict[str, Any]:
        return {
            "workload": self.workload,
            "files": self.files,
            "mode": self.mode_name,
            "asked_bytes": self.asked_bytes,
        }

    def summary_fields(self) -> dict[str, Any]:
        sizes = {"size_mib": self.size_mib, "files": self.files}
        return {"mode": self.mode_name, "parameters": sizes}
