"""`ImportedYcsb`: a YCSB run of others, with what is known about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from density_study.cluster.model.plain import counted
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.values import ClientFiles
from density_study.workloads.ycsb.mixes import MIXES, MixFacts, is_load


class ImportedYcsb(TestCase):
    """A YCSB run. A value that is null is not known, except of `target_ops_s`.

    mix: one of this project's mixes, or any other name.
    """

    workload: Literal["ycsb"] = "ycsb"
    imported: Literal[True] = True
    mix: str
    records: int | None = Field(None, gt=0)
    threads: int | None = Field(None, gt=0, description="threads per client process")
    clients: int = Field(1, gt=0)
    duration_s: float | None = None
    warm_up_s: float = 0.0
    target_ops_s: float | None = Field(
        None, description="target rate of all clients together; null: none is known"
    )
    operations: tuple[str, ...] = Field((), description="operations that the clients counted")

    @property
    def id(self) -> str:
        parts = [f"ycsb-{self.mix}"]
        parts += [f"r{self.records}"] if self.records else []
        parts += [f"t{self.threads}"] if self.threads else []
        parts += [f"c{self.clients}"] if self.clients > 1 else []
        parts += [f"at{self.target_ops_s:g}ps"] if self.target_ops_s is not None else []
        return "-".join(parts)

    @property
    def _facts(self) -> MixFacts | None:
        return next((facts for name, facts in MIXES.items() if name == self.mix), None)

    @property
    def label(self) -> str:
        return f"YCSB {self._facts.label if self._facts else self.mix}"

    @property
    def mode_name(self) -> str:
        return self.mix

    @property
    def is_load(self) -> bool:
        return any(is_load(name) for name in MIXES if name == self.mix)

    @property
    def size_label(self) -> str:
        records = counted(self.records, "record") if self.records else "unknown number of records"
        threads = counted(self.threads, "thread") if self.threads else "unknown number of threads"
        size = f"{records}, {threads}"
        if self.clients > 1:
            size += f" in each of {self.clients} clients"
        target = self.target_ops_s
        return size if target is None else f"{size}, {target:g} ops/s requested"

    @property
    def sort_key(self) -> tuple[float, ...]:
        names = list(MIXES)
        place = next((names.index(name) for name in names if name == self.mix), len(names))
        return place, self.records or 0, self.threads or 0, self.target_ops_s or 0.0

    @property
    def cut_s(self) -> float:
        return self.warm_up_s

    @property
    def estimate_s(self) -> float:
        return self.duration_s or 0.0

    @property
    def is_paced(self) -> bool:
        return self.target_ops_s is not None

    @property
    def latency_operations(self) -> tuple[str, ...]:
        return self._facts.latency if self._facts else self.operations

    def raw_files(self, client: ClientFiles) -> Iterator[tuple[str, str]]:
        if client.stdout:
            yield "ycsb-summary", client.stdout
        if client.stderr:
            yield "ycsb-status", client.stderr
        yield "ycsb-hdr", f"raw/{client.name}-*.hdr"

    def table_row(self) -> dict[str, Any]:
        threads = None if self.threads is None else self.threads * self.clients
        return self.model_dump(exclude={"imported", "operations"}) | {"threads": threads}

    def summary_fields(self) -> dict[str, Any]:
        knobs: dict[str, float] = {"warm_up": self.warm_up_s}
        if self.duration_s is not None:
            knobs["duration"] = self.duration_s
        return {
            "mode": self.mix,
            "target_ops_s": self.target_ops_s,
            "parameters": self.model_dump(include={"records", "threads"}),
            "unnamed_knobs": {} if self.is_load else knobs,
        }
