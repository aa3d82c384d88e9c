"""What a study may ask of YCSB (`YcsbSpec`), and one run with every knob fixed (`YcsbSetting`)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from workloads.base.checked import FaultyKeyError, at_most
from workloads.base.quantity import Seconds
from workloads.ycsb.noisy_neighbour.placement import NOBODY
from workloads.ycsb.target import LatencyTarget, Target
from workloads.ycsb.variants.store import STORED_ROW_MIB as STORED_VARIANT_MIB
from workloads.ycsb.variants.store import VALUE_MIB, VariantStore
from workloads.ycsb.warm_up_knobs import (
    STEADY_ESTIMATE_S,
    WARM_UP_CLIENT_S,
    WarmUp,
    WarmUpClient,
    warm_up_knobs,
)

CoreMix = Literal[
    "load", "read45-insert55", "scan95-insert5", "a", "b", "c", "d", "e", "f"
]  # a to f: YCSB's own core workloads
Mix = CoreMix | Literal["variant-load", "region-scan", "sample-read", "cohort-query"]
LOADS = ("load", "variant-load")
"""Mixes that write a table whole, and end with its last row."""
Count = Annotated[int, Field(strict=True, ge=1)]
INT_MAX = 2**31 - 1
MAX_SETTINGS = 500
Rows = Annotated[Count, at_most(INT_MAX, "YCSB does not count further")]
Threads = Annotated[
    Count, at_most(10_000, "one client's Java process does not carry so many threads")
]
RegionsPerServer = Annotated[Count, at_most(1000, "a RegionServer does not carry so many regions")]

LOAD_ESTIMATE_OPS_S = 6000.0
AROUND_ESTIMATE_S = 15.0
ROW_MIB = 1000 / 2**20
"""YCSB's row: 10 fields of 100 bytes."""
STORED_ROW_MIB = 1.4 / 1024
"""A row with its keys and cell overhead, as HBase stores it."""
COPIES_ON_DISK = 3
"""WAL, store files, and the rewrite of a major compaction, before old files go."""
LABELS: dict[Mix, str] = {
    "load": "data load",
    "read45-insert55": "45/55 read-insert",
    "scan95-insert5": "95/5 short scan",
    "a": "core workload A",
    "b": "core workload B",
    "c": "core workload C",
    "d": "core workload D",
    "e": "core workload E",
    "f": "core workload F",
    "variant-load": "variant store, load",
    "region-scan": "variant store, region scan",
    "sample-read": "variant store, sample read",
    "cohort-query": "variant store, scans among reads",
}
"""For people; also the order in which settings are shown."""


class YcsbSetting(BaseModel):
    """One YCSB run, ended by `duration_s`; a load has none, and ends with its last record.

    threads: of each of the `clients` processes. A saturation run has no target. A latency run has
    target_ops_s, of all clients together; one whose target is symbolic (target_percent, of the
    saturation measured on the same build) gets it when the trial begins.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    workload: Literal["ycsb"] = "ycsb"
    mix: Mix
    records: int = Field(gt=0)
    threads: int = Field(gt=0)
    clients: int = Field(1, gt=0)
    duration_s: float | None = None
    warm_up_s: float = 0.0
    warm_up_client_s: float = Field(0.0, description="unmeasured, before the client's schedule")
    warm_up_daemons_s: float = Field(0.0, description="unmeasured, before a build's first run")
    until_steady: bool = Field(False, description="by its own mix, at most so long")
    target_percent: float | None = None
    target_ops_s: float | None = None
    request_distribution: Literal["zipfian", "uniform", "latest"] = "zipfian"
    max_scan_length: int = 100
    regions_per_server: int = 10
    neighbour_threads: int | None = Field(
        None, ge=0, description="an isolation trial: busy threads beside the victim, 0 for none"
    )
    variants: VariantStore | None = Field(
        None, description="a variant store's rows and queries; records are then its rows"
    )

    @property
    def id(self) -> str:
        clients = f"-c{self.clients}" if self.clients > 1 else ""
        beside = f"-beside{self.neighbour_threads or '-nobody'}" if self.is_isolation else ""
        what = f"ycsb-{self.mix}-r{self.records}"
        if self.variants is not None:
            what = f"genomics-{self.mix}-{self.variants.name}"
        return f"{what}-t{self.threads}{clients}{self._at}{beside}"

    @property
    def cut_s(self) -> float:
        """From the start of the window: what comes before is not measured (method 7)."""
        return self.warm_up_client_s + self.warm_up_s

    @property
    def is_load(self) -> bool:
        """Whether it writes its table, and ends with the last row."""
        return self.mix in LOADS

    @property
    def is_isolation(self) -> bool:
        """Whether the trial is one of a pair: a victim alone, and the same beside a noisy neighbour."""
        return self.neighbour_threads is not None

    @property
    def neighbour(self) -> str | None:
        """What is beside the victim, in words; None for a trial that is no isolation trial."""
        if self.neighbour_threads is None:
            return None
        return f"{self.neighbour_threads} busy threads" if self.neighbour_threads else NOBODY

    @property
    def _at(self) -> str:
        """As planned: a percentage keeps its name when its rate is known."""
        if self.target_percent is not None:
            return f"-at{self.target_percent:g}pct"
        return "" if self.target_ops_s is None else f"-at{self.target_ops_s:g}ps"

    @property
    def is_saturation(self) -> bool:
        """As fast as it goes."""
        return not self.is_load and self.target_percent is None and self.target_ops_s is None

    @property
    def label(self) -> str:
        """For people: 'YCSB 95/5 short scan'."""
        return f"YCSB {LABELS[self.mix]}{self.victim}"

    @property
    def victim(self) -> str:
        """What a label says of an isolation trial, behind the mix; empty for others."""
        if self.neighbour is None:
            return ""
        return ", victim alone" if self.neighbour == NOBODY else f", beside {self.neighbour}"

    @property
    def data_mib(self) -> float:
        """The data set before the run, one replica, without HBase's overhead."""
        return self.records * (ROW_MIB if self.variants is None else VALUE_MIB)

    @property
    def disk_mib(self) -> float:
        """The most the trial holds on disk, one replica."""
        row_mib = STORED_ROW_MIB if self.variants is None else STORED_VARIANT_MIB
        return self.records * row_mib * COPIES_ON_DISK

    @property
    def estimate_s(self) -> float:
        """A rough guess, without the daemons' warm-up; a run corrects it by what it sees."""
        work_s = self.duration_s or self.records / LOAD_ESTIMATE_OPS_S
        return AROUND_ESTIMATE_S + self.warm_up_client_s + work_s

    @property
    def window_s(self) -> float:
        """How long the window is, as far as it is known before; of a load it is a guess."""
        return self.duration_s or self.estimate_s

    @property
    def warmed(self) -> Hashable:
        """What the daemons are warmed up for once a build: each table, until steady each mix on it."""
        table = (self.records, self.variants, self.is_isolation)
        return (*table, self.mix) if self.until_steady else table

    @property
    def warm_up_estimate_s(self) -> float:
        """Of the daemons' warm-up, before a build's first trial of `warmed`."""
        if not self.until_steady:
            return 2 * self.warm_up_daemons_s
        load_s = self.records / LOAD_ESTIMATE_OPS_S
        return min(STEADY_ESTIMATE_S, load_s) if self.is_load else STEADY_ESTIMATE_S

    def writes_for(self, other: object) -> bool:
        """Whether this setting writes the data that `other` reads."""
        if not isinstance(other, YcsbSetting) or not self.is_load or other.is_isolation:
            return False
        return not other.is_load and self.of_one_table(other)

    def of_one_table(self, other: YcsbSetting) -> bool:
        """Whether both run on the same rows."""
        return (self.records, self.variants) == (other.records, other.variants)

    def measures_for(self, other: object) -> bool:
        """Whether `other` asks for a percentage of the saturation that this setting measures."""
        if not isinstance(other, YcsbSetting) or other.target_percent is None:
            return False
        alike = (self.mix, self.clients) == (other.mix, other.clients) and self.of_one_table(other)
        return self.is_saturation and alike and not self.is_isolation


class IsolationSpec(BaseModel):
    """A pair of trials: a victim alone, and beside a neighbour that keeps threads busy and writes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mix: CoreMix
    threads: Threads
    neighbour_threads: Threads = 2

    @model_validator(mode="after")
    def _is_a_run(self) -> IsolationSpec:
        if self.mix == "load":
            raise FaultyKeyError(
                "the victim of an isolation trial runs for a time: any mix but load", "mix"
            )
        return self


def refuse_too_many(
    sizes: Sequence[int], threads: Sequence[int], targets: Sequence[object], mixes: Sequence[str]
) -> None:
    """FaultyKeyError for more settings than a study has time for, before they are made."""
    each = len(set(threads)) + len(set(targets))
    settings = len(set(sizes)) * len(set(mixes)) * each
    if settings > MAX_SETTINGS:
        raise FaultyKeyError(
            f"the lists make {settings} settings, at most {MAX_SETTINGS}", "threads"
        )


class YcsbSpec(BaseModel):
    """YCSB runs on HBase: a saturation trial for each of records x threads x mixes, and with the
    most threads a latency trial for each of records x mixes x latency_at.

    The most threads, so that the clients' own number does not hold back a rate that the cluster
    could sustain; the same at every density.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    records: tuple[Rows, ...] = Field(min_length=1)
    mixes: tuple[CoreMix, ...] = Field(min_length=1)
    threads: tuple[Threads, ...] = Field(min_length=1)
    clients: Annotated[int, Field(strict=True, ge=1, le=64)] = 1
    latency_at: tuple[LatencyTarget, ...] = ()
    isolation: IsolationSpec | None = None
    duration: Seconds = 600.0
    warm_up: Seconds = 60.0
    warm_up_client: WarmUpClient = WARM_UP_CLIENT_S
    warm_up_daemons: WarmUp = "steady"
    request_distribution: Literal["zipfian", "uniform", "latest"] = "zipfian"
    max_scan_length: Rows = 100
    regions_per_server: RegionsPerServer = 10

    @model_validator(mode="after")
    def _measures_something(self) -> YcsbSpec:
        if self.warm_up >= self.duration:
            raise FaultyKeyError(
                "warm_up takes the whole duration; nothing would be measured", "warm_up"
            )
        if self.latency_at and set(self.mixes) == {"load"}:
            raise FaultyKeyError(
                "latency_at needs a mix besides load; a load has no latency trial", "latency_at"
            )
        if self.clients > min(self.records):
            raise FaultyKeyError("clients: each must have a record of its own to load", "clients")
        refuse_too_many(self.records, self.threads, self.latency_at, self.mixes)
        return self

    def settings(self) -> tuple[YcsbSetting, ...]:
        return (*self._saturation(), *self._latency(), *self._isolation())

    def _saturation(self) -> Iterator[YcsbSetting]:
        for records in dict.fromkeys(self.records):
            for threads in dict.fromkeys(self.threads):
                for mix in dict.fromkeys(self.mixes):
                    yield self._setting(records, threads, mix)

    def _latency(self) -> Iterator[YcsbSetting]:
        for records in dict.fromkeys(self.records):
            for mix in dict.fromkeys(mix for mix in self.mixes if mix != "load"):
                for target in dict.fromkeys(self.latency_at):
                    yield self._setting(records, max(self.threads), mix, target)

    def _isolation(self) -> Iterator[YcsbSetting]:
        if self.isolation is None:
            return
        victim = self._setting(self.records[0], self.isolation.threads, self.isolation.mix)
        for threads in (0, self.isolation.neighbour_threads):
            yield victim.model_copy(update={"neighbour_threads": threads})

    def _setting(
        self, records: int, threads: int, mix: Mix, target: Target | None = None
    ) -> YcsbSetting:
        target = target or Target()
        return YcsbSetting(
            mix=mix,
            records=records,
            threads=threads,
            clients=self.clients,
            duration_s=None if mix == "load" else self.duration,
            warm_up_s=0.0 if mix == "load" else self.warm_up,
            warm_up_client_s=0.0 if mix == "load" else self.warm_up_client,
            **warm_up_knobs(self.warm_up_daemons),
            target_percent=target.percent,
            target_ops_s=target.ops_s,
            request_distribution=self.request_distribution,
            max_scan_length=self.max_scan_length,
            regions_per_server=self.regions_per_server,
        )
