"""`YcsbParameters`: every knob of a YCSB run, and what the run is called by them."""

from __future__ import annotations

from math import inf
from typing import Literal, Self

from pydantic import Field, model_validator

from density_study.cluster.model.plain import counted
from density_study.cluster.model.store import stores
from density_study.workloads.base.fault import Fault
from density_study.workloads.base.search import Search
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.ycsb.client_spec import Client
from density_study.workloads.ycsb.distribution import ZIPFIAN, KeyDistribution, Keys
from density_study.workloads.ycsb.mixes import MIXES, MixFacts, OwnMix, is_load
from density_study.workloads.ycsb.noisy_neighbour.neighbour import NOBODY
from density_study.workloads.ycsb.phase import Phase
from density_study.workloads.ycsb.row import Row
from density_study.workloads.ycsb.stores.threads_by_store import OfStore
from density_study.workloads.ycsb.variant_store import VariantStore


class YcsbParameters(TestCase):
    """One YCSB run, which ends after `duration_s`; a load has no duration, and ends with its last record.

    Threads, records and target are those of all `clients` processes together, which start at the same moment
    on the topology's client nodes. A saturation run has no target. A latency run has target_ops_s. A target
    relative to the saturation measured on the same build (target_percent) is resolved when the trial starts.
    """

    workload: Literal["ycsb"] = "ycsb"
    mix: str = Field(description="name of the mix of operations")
    own_mix: OwnMix | None = Field(None, description="the mix, where the study defines it")
    records: int = Field(gt=0, description="rows of the table before the run")
    row: Row = Field(Row(), description="fields of a row; a variant store has rows of its own")
    threads: int = Field(gt=0, description="threads of all clients together")
    threads_by_store: tuple[OfStore, ...] = Field(
        (), description="`threads` where they differ by store; empty: they do not"
    )
    clients: int = Field(1, gt=0, description="client processes on all client nodes")
    client: Client = Field(Client(), description="JVM and connections of a client process")
    duration_s: float | None = Field(None, description="length of the run in s; null: a load")
    warm_up_s: float = Field(0.0, description="ramp-up in s, excluded from every metric")
    warm_up_client_s: float = Field(
        0.0, description="client warm-up in s, before the client's schedule starts; not measured"
    )
    warm_up_daemons_s: float = Field(
        0.0, description="server warm-up in s, before a build's first run; not measured"
    )
    until_steady: bool = Field(
        False,
        description="instead of a time: server warm-up runs its own mix until compilers idle, the "
        "block caches' hit ratio stands still, and every server has served enough",
    )
    beside_load: bool = Field(
        True,
        description="whether loads are also measured; a timed server warm-up then begins with inserts",
    )
    warm_up_threads: int | None = Field(
        None, gt=0, description="least threads of the server warm-up; null: those of the run"
    )
    target_percent: float | None = Field(
        None, description="target rate in percent of the saturation measured on the same build"
    )
    target_ops_s: float | None = Field(
        None, description="target rate of all clients together, in operations per second"
    )
    search: Search | None = Field(
        None, description="what a sequence of probes searches for; null: the trial is not a probe"
    )
    fault: Fault | None = Field(
        None, description="what is done to the cluster while the clients run; null: nothing"
    )
    phase: Phase | None = Field(
        None,
        description="how the rate changes with time, as shares of the target; null: it does not",
    )
    request_distribution: Keys = ZIPFIAN
    max_scan_length: int = Field(100, description="maximum rows per scan")
    min_scan_length: int = Field(1, description="minimum rows per scan")
    scan_length_distribution: Literal["uniform", "zipfian"] = "uniform"
    insert_order: Literal["hashed", "ordered"] = Field(
        "hashed", description="whether keys are hashes of record numbers, or the numbers themselves"
    )
    regions_per_server: int = 10
    load_once: bool = Field(
        False,
        description="whether later builds get the table from a copy of the first one's store files",
    )
    neighbour_threads: int | None = Field(
        None,
        ge=0,
        description="noisy-neighbour trial: CPU-bound threads next to the victim, 0 for none; "
        "null: not such a trial",
    )
    variants: VariantStore | None = Field(
        None, description="rows and queries of a variant store; `records` counts its rows"
    )

    @model_validator(mode="after")
    def _mix_is_known(self) -> Self:
        known = self.own_mix.name == self.mix if self.own_mix else self.mix in MIXES
        if not known:
            raise ValueError(f"there is no mix {self.mix!r}")
        return self

    @property
    def mix_facts(self) -> MixFacts:
        if self.own_mix is not None:
            return self.own_mix.facts
        return next(facts for name, facts in MIXES.items() if name == self.mix)

    @property
    def own_threads(self) -> int:
        """Threads of the test case in the plan; a probe of a search may have more."""
        return (self.search.start_threads if self.search else None) or self.threads

    @property
    def is_load(self) -> bool:
        """Whether the run writes its table, and ends with the last row."""
        return is_load(self.mix)

    @property
    def distribution(self) -> KeyDistribution:
        """Distribution of requests."""
        return self.mix_facts.distribution or self.request_distribution

    @property
    def has_neighbour(self) -> bool:
        """Whether the trial belongs to a noisy-neighbour pair: a victim without, and with a neighbour."""
        return self.neighbour_threads is not None

    @property
    def neighbour(self) -> str | None:
        """The victim's neighbour in words; None: not a noisy-neighbour trial."""
        if self.neighbour_threads is None:
            return None
        return f"{self.neighbour_threads} busy threads" if self.neighbour_threads else NOBODY

    @property
    def id(self) -> str:
        """'ycsb-c-r1000-t8-at80pct': equal before and after a rate or a probe is known."""
        by_store = (f"{one.store}{one.threads}" for one in self.threads_by_store if one.threads)
        threads = "-".join(by_store) or self.own_threads
        parts = [f"ycsb-{self.mix}-r{self.records}-t{threads}"]
        if self.variants is not None:
            parts = [f"genomics-{self.mix}-{self.variants.name}-t{threads}"]
        if self.row.name:
            parts.append(self.row.name)
        if self.insert_order != "hashed":
            parts.append(self.insert_order)
        if self.clients > 1:
            parts.append(f"c{self.clients}")
        if self.search is not None:  # keeps its name whatever its probe
            parts.append(self.search.id)
        elif self.phase is not None:  # keeps its name once its rates are known
            parts.append(self.phase.name)
        elif self.target_percent is not None:  # keeps its name once its rate is known
            parts.append(f"at{self.target_percent:g}pct")
        elif self.target_ops_s is not None:
            parts.append(f"at{self.target_ops_s:g}ps")
        if self.fault is not None:
            parts.append(self.fault.id)
        if self.has_neighbour:
            parts.append(f"beside{self.neighbour_threads or '-nobody'}")
        return "-".join(parts)

    @property
    def label(self) -> str:
        """'YCSB 95/5 short scan'."""
        mix = f"YCSB {self.mix_facts.label}"
        if self.neighbour is None:
            return mix
        return (
            f"{mix}, {'victim alone' if self.neighbour == NOBODY else f'beside {self.neighbour}'}"
        )

    @property
    def size_label(self) -> str:
        """'1,000 records, 8 threads in 2 clients, at 80 % of saturation'."""
        rows = counted(self.records, "record")
        if self.row.name:
            rows += f" of {self.row.fields} x {self.row.lengths} B"
        if self.insert_order != "hashed":
            rows += f" in {self.insert_order} keys"
        if self.variants is not None:
            samples, sites = self.variants.samples, self.variants.sites
            rows = f"{counted(samples, 'sample')} at {counted(sites, 'site')}"
        on = [
            f"{counted(one.threads, 'thread')} on {stores()[one.store].title}"
            for one in self.threads_by_store
            if one.threads
        ]
        size = f"{rows}, {' and '.join(on) or counted(self.own_threads, 'thread')}"
        if self.clients > 1:
            size += f" in {self.clients} clients"
        if self.search is not None:
            return f"{size}, {self.search.goal}"
        if self.phase is not None:
            return f"{size}, {self.phase.words}"
        if self.target_percent is not None:  # its rate differs from build to build
            size += f", at {self.target_percent:g} % of saturation"
        elif self.target_ops_s is not None:
            size += f", {self.target_ops_s:g} ops/s requested"
        return size if self.fault is None else f"{size}, {self.fault.words}"

    @property
    def sort_key(self) -> tuple[float, ...]:
        """Orders test cases by mix, rows, threads and rate; searches, faults and phases come last."""
        percent = self.target_percent or 0.0
        target = percent if self.target_percent else 1000.0 * (self.target_ops_s or 0.0)
        names = [str(name) for name in MIXES]
        place = names.index(self.mix) if self.mix in names else len(names)
        if self.search or self.fault or self.phase:  # after the targets
            return place, self.records, self.own_threads, inf
        return place, self.records, self.threads, target

    @property
    def _warm_up_of_daemons(self) -> str | float:
        if self.until_steady:
            return "steady"
        inserts = self.beside_load or not self.warm_up_daemons_s
        return (
            self.warm_up_daemons_s if inserts else f"{self.warm_up_daemons_s:g} s without inserts"
        )

    def unnamed_knobs(self) -> dict[str, str | float]:
        """Knobs that influence the results but are not part of the id, by their key in a study. Only knobs
        that affect the mix: a load draws no keys, and only scans have a length."""
        knobs: dict[str, str | float | None] = {
            "duration": self.search.duration_s if self.search else self.duration_s,
            "warm_up": None if self.is_load else self.warm_up_s,
            "warm_up_client": self.warm_up_client_s,
            "warm_up_daemons": self._warm_up_of_daemons,
            "regions_per_server": self.regions_per_server,
            "load_once": "yes" if self.load_once else None,
            "seed": None if self.variants is None else self.variants.seed,
            **self.client.knobs,
        }
        if self.own_mix is not None:
            shares = self.mix_facts.shares.items()
            knobs["shares"] = ", ".join(f"{name} {share:g}" for name, share in shares if share)
        if not self.is_load:
            knobs["request_distribution"] = str(self.distribution)
            if self.variants is not None:
                knobs |= self.variants.model_dump(include={"regions", "region_sites"})
            elif self.mix_facts.shares["scan"] > 0:
                knobs["max_scan_length"] = self.max_scan_length
                if self.min_scan_length != 1:
                    knobs["min_scan_length"] = self.min_scan_length
                if self.scan_length_distribution != "uniform":
                    knobs["scan_length_distribution"] = self.scan_length_distribution
        return {name: value for name, value in knobs.items() if value is not None}
