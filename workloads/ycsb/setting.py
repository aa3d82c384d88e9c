"""What a study may ask of YCSB (`YcsbSpec`), and one run with every knob fixed (`YcsbSetting`)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from workloads.quantity import Seconds

Mix = Literal[
    "load", "read45-insert55", "scan95-insert5", "a", "b", "c", "d", "e", "f"
]  # a to f: YCSB's own core workloads
Count = Annotated[int, Field(strict=True, ge=1)]

LOAD_ESTIMATE_OPS_S = 6000.0
AROUND_ESTIMATE_S = 15.0
ROW_MIB = 1000 / 2**20
"""YCSB's row: 10 fields of 100 bytes."""
STORED_ROW_MIB = 1.4 / 1024
"""A row with its keys and cell overhead, as HBase stores it."""
COPIES_ON_DISK = 3
"""WAL, store files, and the rewrite of a major compaction, before old files go."""
LABELS = {
    "load": "data load",
    "read45-insert55": "45/55 read-insert",
    "scan95-insert5": "95/5 short scan",
}


class YcsbSetting(BaseModel):
    """One YCSB run, ended by `duration_s`; a load has none, and ends with its last record."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    workload: Literal["ycsb"] = "ycsb"
    mix: Mix
    records: int = Field(gt=0)
    threads: int = Field(gt=0)
    duration_s: float | None = None
    warm_up_s: float = 0.0
    target_ops_s: float | None = None
    request_distribution: Literal["zipfian", "uniform", "latest"] = "zipfian"
    max_scan_length: int = 100
    regions_per_server: int = 10

    @property
    def id(self) -> str:
        return f"ycsb-{self.mix}-r{self.records}-t{self.threads}"

    @property
    def label(self) -> str:
        """For people."""
        return f"YCSB {LABELS.get(self.mix, f'workload {self.mix.upper()}')}"

    @property
    def data_mib(self) -> float:
        """The data set before the run, one replica, without HBase's overhead."""
        return self.records * ROW_MIB

    @property
    def disk_mib(self) -> float:
        """The most the trial holds on disk, one replica."""
        return self.records * STORED_ROW_MIB * COPIES_ON_DISK

    @property
    def estimate_s(self) -> float:
        """A rough guess; a run corrects it by what it sees."""
        return AROUND_ESTIMATE_S + (self.duration_s or self.records / LOAD_ESTIMATE_OPS_S)

    def writes_for(self, other: object) -> bool:
        """Whether this setting writes the data that `other` reads."""
        if not isinstance(other, YcsbSetting) or self.mix != "load":
            return False
        return other.mix != "load" and self.records == other.records


class YcsbSpec(BaseModel):
    """YCSB runs on HBase: one trial for each of records x threads x mixes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    records: tuple[Count, ...] = Field(min_length=1)
    mixes: tuple[Mix, ...] = Field(min_length=1)
    threads: tuple[Count, ...] = Field(min_length=1)
    duration: Seconds = 600.0
    warm_up: Seconds = 60.0
    request_distribution: Literal["zipfian", "uniform", "latest"] = "zipfian"
    max_scan_length: Count = 100
    regions_per_server: Count = 10

    @model_validator(mode="after")
    def _measures_something(self) -> YcsbSpec:
        if self.warm_up >= self.duration:
            raise ValueError("warm_up takes the whole duration; nothing would be measured")
        return self

    def settings(self) -> tuple[YcsbSetting, ...]:
        return tuple(
            self._setting(records, threads, mix)
            for records in dict.fromkeys(self.records)
            for threads in dict.fromkeys(self.threads)
            for mix in dict.fromkeys(self.mixes)
        )

    def _setting(self, records: int, threads: int, mix: Mix) -> YcsbSetting:
        return YcsbSetting(
            mix=mix,
            records=records,
            threads=threads,
            duration_s=None if mix == "load" else self.duration,
            warm_up_s=0.0 if mix == "load" else self.warm_up,
            request_distribution=self.request_distribution,
            max_scan_length=self.max_scan_length,
            regions_per_server=self.regions_per_server,
        )
