"""`YcsbSpec`: the key `ycsb` of a study file, and the test cases it expands to."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from math import ceil
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, WithJsonSchema, model_validator

from density_study.cluster.stores.store import act_names
from density_study.workloads.base.checked import FaultyKeyError, at_most
from density_study.workloads.base.quantity import Seconds
from density_study.workloads.base.test_case import WorkloadSpec
from density_study.workloads.base.values import Frozen
from density_study.workloads.ycsb.act_under_load.rules import lasts
from density_study.workloads.ycsb.act_under_load.spec import ActSpec
from density_study.workloads.ycsb.client_spec import Client
from density_study.workloads.ycsb.distribution import ZIPFIAN, Keys
from density_study.workloads.ycsb.fault_under_load.spec import RECOVERY_S, FaultSpec
from density_study.workloads.ycsb.knobs import (
    WARM_UP_CLIENT_S,
    LatencyTarget,
    Target,
    WarmUp,
    WarmUpClient,
    warm_up_knobs,
)
from density_study.workloads.ycsb.mixes import (
    CoreMix,
    Mix,
    MixChoice,
    OwnMix,
    VariantMix,
    is_load,
    name_of,
)
from density_study.workloads.ycsb.phase_spec import PhaseSpec
from density_study.workloads.ycsb.row import Row
from density_study.workloads.ycsb.search_spec import SearchSpec
from density_study.workloads.ycsb.stores.threads_by_store import (
    MAX_THREADS,
    ByStore,
    ThreadsByStore,
    check_alike,
    extreme,
    kind,
    threads_knobs,
)
from density_study.workloads.ycsb.test_case import INT_MAX, YcsbTestCase

Count = Annotated[int, Field(strict=True, ge=1)]
MAX_TEST_CASES = 500  # as for a whole study
Rows = Annotated[
    Count,
    at_most(
        INT_MAX,
        "YCSB counts in 32 bits. Make the rows larger, for example `row: {fields: 20, field_length: 500 B}`",
    ),
]
RowsOrMemory = Annotated[
    Rows,
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": INT_MAX},
                {"type": "string", "pattern": r"^\d{1,4}(\.\d{1,3})?x memory$"},
            ]
        }
    ),
]
Threads = Annotated[Count, at_most(MAX_THREADS, "the limit of one client's JVM")]
ThreadsChoice = Annotated[
    Annotated[Threads, Tag("(number)")] | Annotated[ThreadsByStore, Tag("(by store)")],
    Discriminator(kind),
]
RegionsPerServer = Annotated[Count, at_most(1000, "the limit of one RegionServer")]


def _of_memory(size: object) -> re.Match[str] | None:
    return re.fullmatch(r"(\d{1,4}(?:\.\d{1,3})?)x memory", size) if isinstance(size, str) else None


class RunsSpec(WorkloadSpec):
    """The keys that `ycsb` and `genomics` share, and how they expand: a saturation trial per combination of
    table, threads and mix, and with the maximum of `threads` a latency trial per combination of table, mix
    and latency_at."""

    mixes: tuple[MixChoice | VariantMix, ...] = Field(
        min_length=1, description="mixes of operations to run"
    )
    threads: tuple[ThreadsChoice, ...] = Field(
        min_length=1,
        description="threads of all clients together; one saturation trial each. Where stores are compared "
        "also numbers by store: {hbase: 16, ...}",
    )
    clients: Annotated[int, Field(strict=True, ge=1, le=64)] = Field(
        1, description="client processes per host with the role client; all share the load"
    )
    client: Client = Field(
        Client(), description="the JVM and the connections of each client process"
    )
    latency_at: tuple[LatencyTarget, ...] = Field(
        (), description="target rates of latency trials: 70% of the measured saturation, or 2000/s"
    )
    search: SearchSpec | None = Field(
        None, description="search on each build for the highest load that keeps its limits"
    )
    duration: Seconds = Field(600.0, description="length of a run, ramp-up included: 10 min")
    warm_up: Seconds = Field(60.0, description="ramp-up that is excluded from every metric: 60 s")
    warm_up_client: WarmUpClient = Field(
        WARM_UP_CLIENT_S, description="client warm-up before its schedule starts: 20 s, or off"
    )
    warm_up_daemons: WarmUp = Field(
        "steady", description="server warm-up before measured trials: steady, a time, or off"
    )
    request_distribution: Keys = ZIPFIAN
    regions_per_server: RegionsPerServer = Field(
        10, description="regions of the table per RegionServer"
    )
    load_once: bool = Field(
        False,
        description="load each table only in the run's first build, where that saves time; later builds "
        "bulk load a copy of its store files. With provider local or physical, and warm_up_daemons steady",
    )

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """One table each: numbers of records, or of samples."""

    @abstractmethod
    def table_knobs(self, size: int) -> dict[str, Any]:
        """The knobs of a test case that describe its table."""

    @model_validator(mode="after")
    def _measures_something(self) -> Self:
        if self.warm_up >= self.duration:
            raise FaultyKeyError(
                f"warm_up of {self.warm_up:g} s leaves nothing of the duration to measure, which is "
                f"{self.duration:g} s: make warm_up shorter, or the duration longer",
                "warm_up",
            )
        if self.latency_at and all(is_load(name_of(mix)) for mix in self.mixes):
            raise FaultyKeyError(
                f"latency_at needs a mix besides {name_of(self.mixes[0])}: a load has no latency trial",
                "latency_at",
            )
        if self.search is not None:
            self._check_search(self.search)
        check_alike(self.threads)
        # Counted before the lists are expanded.
        per_size_and_mix = len(set(self.threads)) + len(set(self.latency_at)) + bool(self.search)
        test_cases = len(set(self.sizes)) * len(set(self.mixes)) * per_size_and_mix
        if test_cases > MAX_TEST_CASES:
            raise FaultyKeyError(
                f"the lists expand to {test_cases} test cases; the maximum is {MAX_TEST_CASES}",
                "threads",
            )
        return self

    def _check_search(self, search: SearchSpec) -> None:
        runs = [mix for mix in self.mixes if not is_load(name_of(mix))]
        if not runs:
            raise FaultyKeyError(
                f"search needs a mix besides {name_of(self.mixes[0])}: a load has no rate to vary",
                "search",
            )
        if search.duration is not None and search.duration <= self.warm_up:
            raise FaultyKeyError(
                "warm_up leaves nothing of the search's duration to measure", "search", "duration"
            )
        for mix in runs:
            search.search(mix, 1, self.duration)

    def test_cases(self) -> tuple[YcsbTestCase, ...]:
        return (*self._saturation(), *self._latency(), *self._searches())

    def _saturation(self) -> Iterator[YcsbTestCase]:
        for size in dict.fromkeys(self.sizes):
            for threads in dict.fromkeys(self.threads):
                for mix in dict.fromkeys(self.mixes):
                    yield self.test_case(size, threads, mix)

    def _latency(self) -> Iterator[YcsbTestCase]:
        for size in dict.fromkeys(self.sizes):
            for mix in dict.fromkeys(mix for mix in self.mixes if not is_load(name_of(mix))):
                for target in dict.fromkeys(self.latency_at):
                    yield self.test_case(size, extreme(self.threads, max), mix, target)

    def _searches(self) -> Iterator[YcsbTestCase]:
        """One per table and mix. A rate is offered by the maximum of `threads`, so that their number does not
        limit it; a search for threads begins with the minimum."""
        if self.search is None:
            return
        pick = min if self.search.max_threads_gain is not None else max
        for size in dict.fromkeys(self.sizes):
            for mix in dict.fromkeys(mix for mix in self.mixes if not is_load(name_of(mix))):
                test_case = self.test_case(size, extreme(self.threads, pick), mix)
                search = self.search.search(mix, test_case.threads, self.duration)
                updates = {"search": search, "duration_s": search.duration_s}
                yield test_case.model_copy(update=updates)

    def test_case(
        self, size: int, threads: int | ByStore, mix: Mix | OwnMix, target: Target | None = None
    ) -> YcsbTestCase:
        timed, target = not is_load(name_of(mix)), target or Target()
        return YcsbTestCase(
            mix=name_of(mix),
            own_mix=mix if isinstance(mix, OwnMix) else None,
            **threads_knobs(threads, self.threads),
            clients=self.clients,
            client=self.client,
            duration_s=self.duration if timed else None,
            warm_up_s=self.warm_up if timed else 0.0,
            warm_up_client_s=self.warm_up_client,
            **warm_up_knobs(self.warm_up_daemons),
            beside_load=any(is_load(name_of(one)) for one in self.mixes),
            target_percent=target.percent,
            target_ops_s=target.ops_s,
            request_distribution=self.request_distribution,
            regions_per_server=self.regions_per_server,
            load_once=self.load_once,
            **self.table_knobs(size),
        )


class NoisyNeighbourSpec(Frozen):
    """A noisy-neighbour pair of trials: the victim by itself, then with a neighbour that keeps cores busy and
    writes to disk on another node of the victim's host."""

    mix: CoreMix = Field(description="the victim's mix; any but load")
    threads: Threads = Field(description="client threads of the victim")
    neighbour_threads: Threads = Field(2, description="CPU-bound threads of the neighbour")

    @model_validator(mode="after")
    def _is_a_run(self) -> NoisyNeighbourSpec:
        if self.mix == "load":
            raise FaultyKeyError(
                "the victim of a noisy neighbour runs for a fixed time: choose a mix other than load",
                "mix",
            )
        return self


class YcsbSpec(RunsSpec):
    """YCSB runs on HBase: a saturation trial per combination of records, threads and mix, and with the
    maximum of `threads` a latency trial per combination of records, mix and latency_at.

    Latency trials use the maximum, so that the number of client threads does not limit a rate that the
    cluster could sustain. It is the same at every density.
    """

    mixes: tuple[MixChoice, ...] = Field(
        min_length=1, description="mixes of operations to run: names, or mixes of the study's own"
    )
    records: tuple[RowsOrMemory, ...] = Field(
        min_length=1,
        description="rows to load; one table each. A number, or `4x memory`: one replica then takes four "
        "times the `memory` of all worker hosts",
    )
    row: Row = Field(Row(), description="fields of a row")
    noisy_neighbour: NoisyNeighbourSpec | None = Field(
        None, description="a noisy-neighbour pair of trials"
    )
    fault: FaultSpec | None = Field(
        None,
        description="a trial in which a daemon, node or host is killed under load, a host is cut off, or a "
        "disk is slow",
    )
    act: tuple[ActSpec, ...] = Field(
        (),
        description="trials in which an operator's act begins under load: a compaction, a split, ...",
    )
    phases: tuple[PhaseSpec, ...] = Field(
        (), description="trials at rates that change with time: ramp, burst, staircase, soak"
    )
    request_distribution: Keys = Field(
        ZIPFIAN,
        description="distribution of keys, where the mix does not fix it: zipfian, uniform, latest, "
        "sequential, hotspot or exponential; with shares of its own {hotspot: {keys: 20%, operations: 80%}}",
    )
    max_scan_length: Rows = Field(100, description="maximum rows per scan")
    min_scan_length: Rows = Field(1, description="minimum rows per scan")
    scan_length_distribution: Literal["uniform", "zipfian"] = Field(
        "uniform", description="distribution of rows per scan, between minimum and maximum"
    )
    insert_order: Literal["hashed", "ordered"] = Field(
        "hashed",
        description="hashed: new rows go to all regions; ordered: to the end of the table, its last region",
    )

    @classmethod
    def has_memory_size(cls, keys: Mapping[str, Any]) -> bool:
        records = keys.get("records")
        return isinstance(records, list) and any(_of_memory(size) for size in records)

    @classmethod
    def sized_by_memory(cls, keys: Mapping[str, Any], memory_mib: int) -> dict[str, Any]:
        try:
            row_mib = Row.model_validate(keys.get("row", {})).stored_mib
        except ValueError:
            row_mib = Row().stored_mib  # the row is faulty, which is reported where it is
        rows = [
            ceil(float(match[1]) * memory_mib / row_mib) if (match := _of_memory(size)) else size
            for size in keys["records"]
        ]
        return {**keys, "records": rows}

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.records

    def table_knobs(self, size: int) -> dict[str, Any]:
        names = {
            *("row", "max_scan_length", "min_scan_length", "scan_length_distribution"),
            "insert_order",
        }
        return {"records": size, **{name: getattr(self, name) for name in names}}

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        own = {mix.name: mix for mix in self.mixes if isinstance(mix, OwnMix)}
        for mix in self.mixes:
            if isinstance(mix, OwnMix) and own[mix.name] != mix:
                raise FaultyKeyError(f"two different mixes are named {mix.name!r}", "mixes")
        return self

    @model_validator(mode="after")
    def _every_client_loads(self) -> Self:
        if self.clients > min(self.records):
            raise FaultyKeyError(
                "clients exceed records: each client loads at least one record", "clients"
            )
        return self

    @model_validator(mode="after")
    def _fault_leaves_time(self) -> Self:
        if self.fault is None:
            return self
        if self._run_mix(self.fault.mix) is None:
            raise FaultyKeyError("a fault needs a mix besides load", "fault", "mix")
        measured_s = (self.fault.duration or self.duration) - self.warm_up
        if self.fault.over_s + RECOVERY_S > measured_s:
            raise FaultyKeyError(
                f"{measured_s:g} s are measured: {self.fault.over_s:g} s leave less than {RECOVERY_S:g} s to "
                "recover in",
                *("fault", "at"),
            )
        return self

    @model_validator(mode="after")
    def _acts_leave_time(self) -> Self:
        for at, act in enumerate(self.act):
            if self._run_mix(act.mix) is None:
                raise FaultyKeyError("an act needs a mix besides load", "act", at, "mix")
            if act.at + RECOVERY_S > (act.duration or self.duration) - self.warm_up:
                raise FaultyKeyError(
                    f"less than {RECOVERY_S:g} s are measured after it", "act", at, "at"
                )
        if len({trial.id for trial in self._faulty(self.act)}) < len(self.act):
            raise FaultyKeyError("two acts are equal", "act")
        changing = [at for at, act in enumerate(self.act) if lasts(act.do)]
        if len(changing) + (self.fault is not None) > 1:
            *several, last = [name for name in act_names() if lasts(name)]
            raise FaultyKeyError(
                "only the last trial of a build may change the cluster: a study has one fault, or one of "
                f"{', '.join(several)} and {last}",
                *("act", changing[-1], "do"),
            )
        return self

    @model_validator(mode="after")
    def _scans_have_a_range(self) -> Self:
        if self.min_scan_length > self.max_scan_length:
            raise FaultyKeyError("min_scan_length exceeds max_scan_length", "min_scan_length")
        return self

    @model_validator(mode="after")
    def _phases_have_a_ramp_up(self) -> Self:
        if self.phases and (self.warm_up < 1 or self.warm_up != round(self.warm_up)):
            raise FaultyKeyError("phases need a ramp-up of whole seconds, 1 s or more", "warm_up")
        for at, phase in enumerate(self.phases):
            if self._run_mix(phase.mix) is None:
                raise FaultyKeyError("a phase needs a mix besides load", "phases", at, "mix")
        if len({(one.phase.name, one.mix) for one in self.phases}) < len(self.phases):
            raise FaultyKeyError("two phases are equal", "phases")
        return self

    def _run_mix(self, chosen: CoreMix | None) -> MixChoice | None:
        """The mix chosen, or the first besides the load; None if it is a load."""
        if chosen is not None:
            return None if is_load(chosen) else chosen
        return next((mix for mix in self.mixes if not is_load(name_of(mix))), None)

    def test_cases(self) -> tuple[YcsbTestCase, ...]:
        faulty = self._faulty((*self.act, *([self.fault] if self.fault else [])))
        return (*super().test_cases(), *self._neighbours(), *self._phases(), *faulty)

    def _phases(self) -> Iterator[YcsbTestCase]:
        """Each on the first table, with the maximum of `threads`, as latency trials."""
        for spec in self.phases:
            if mix := self._run_mix(spec.mix):
                run = self.test_case(self.records[0], extreme(self.threads, max), mix, spec.highest)
                length_s = self.warm_up + spec.phase.seconds
                yield run.model_copy(update={"phase": spec.phase, "duration_s": length_s})

    def _faulty(self, specs: Iterable[ActSpec | FaultSpec]) -> Iterator[YcsbTestCase]:
        for spec in specs:
            if mix := self._run_mix(spec.mix):
                run = self.test_case(self.records[0], extreme(self.threads, max), mix, spec.rate)
                duration_s = spec.duration or self.duration
                yield run.model_copy(update={"fault": spec.fault, "duration_s": duration_s})

    def _neighbours(self) -> Iterator[YcsbTestCase]:
        if self.noisy_neighbour is None:
            return
        victim = self.test_case(
            self.records[0], self.noisy_neighbour.threads, self.noisy_neighbour.mix
        )
        for threads in (0, self.noisy_neighbour.neighbour_threads):
            yield victim.model_copy(update={"neighbour_threads": threads})
