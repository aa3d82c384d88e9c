"""`TeraSortTestCase`: one sort with every knob fixed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Literal

from pydantic import Field

from density_study.cluster.model.host import MIB
from density_study.cluster.model.plain import counted
from density_study.cluster.model.topology import AnyTopology
from density_study.workloads.base.hardware import hardware_of
from density_study.workloads.base.test_case import JobTestCase
from density_study.workloads.base.values import ClientFiles
from density_study.workloads.terasort.tables import ROW_BYTES

STACK = "hadoop-examples"
JOB_START_ESTIMATE_S = 15.0
CORE_ESTIMATE_MIB_S = 5.0
PASSES = 3
"""Over disks: the input is read; what maps spill, and the output, are written."""


class TeraSortTestCase(JobTestCase):
    """Rows of 100 bytes, of which 10 are the key, in random order, sorted over all files."""

    workload: Literal["terasort"] = "terasort"
    size_mib: int = Field(gt=0, description="size of all rows in MiB")
    files: int = Field(gt=0, description="files of the input")
    reduces: int = Field(gt=0, description="reduce tasks, and files of the output")
    output_copies: int = Field(1, gt=0, description="replicas of the sorted files")

    @property
    def id(self) -> str:
        copies = () if self.output_copies == 1 else (f"c{self.output_copies}",)
        return "-".join(
            (f"terasort-{self.size_mib}m", f"n{self.files}", f"r{self.reduces}", *copies)
        )

    @property
    def label(self) -> str:
        return f"TeraSort, {self.reduces} reduces"

    @property
    def mode_name(self) -> str:
        return "sort"

    @property
    def size_label(self) -> str:
        return f"{self.size_mib} MiB in {counted(self.files, 'file')}"

    @property
    def sort_key(self) -> tuple[float, ...]:
        return self.size_mib, self.files, self.reduces, self.output_copies

    @property
    def rows(self) -> int:
        return self.size_mib * MIB // ROW_BYTES

    @property
    def asked_bytes(self) -> int:
        return self.rows * ROW_BYTES

    @property
    def data_set(self) -> str:
        """Name of the input on HDFS, which sorts with other numbers of reduces share."""
        return f"terasort-n{self.files}-{self.size_mib}m"

    def disk_use(self, replication: int) -> tuple[str, float]:
        spilled = 2  # maps spill and merge what they read, until the job has ended
        return self.data_set, float(self.size_mib * (replication + spilled + self.output_copies))

    @property
    def estimate_s(self) -> float:
        return self._estimate_s(2, None)

    def estimate_on(self, topology: AnyTopology) -> float:
        hardware = hardware_of(topology)
        if hardware is None:
            return self.estimate_s
        return self._estimate_s(hardware.cores, hardware.written_mib_s / PASSES)

    def _estimate_s(self, cores: int, most_mib_s: float | None) -> float:
        rate_mib_s = cores * CORE_ESTIMATE_MIB_S
        rate_mib_s = rate_mib_s if most_mib_s is None else min(rate_mib_s, most_mib_s)
        return JOB_START_ESTIMATE_S + self.size_mib / rate_mib_s

    @property
    def prepared(self) -> Hashable | None:
        return self.data_set

    def limit_on(self, topology: AnyTopology) -> float:
        return 3 * self.job_limit_on(topology)

    @property
    def needs_stacks(self) -> tuple[str, ...]:
        return (STACK,)

    def raw_files(self, client: ClientFiles) -> Iterator[tuple[str, str]]:
        yield "terasort-history", "raw/history/*.jhist"

    def table_row(self) -> dict[str, Any]:
        named = {"workload", "files"}
        of_case = {"mode": self.mode_name, "asked_bytes": self.asked_bytes}
        return {**self.model_dump(include=named), **of_case}

    def summary_fields(self) -> dict[str, Any]:
        parameters = self.model_dump(include={"size_mib", "files", "reduces", "output_copies"})
        return {"mode": self.mode_name, "parameters": parameters}
