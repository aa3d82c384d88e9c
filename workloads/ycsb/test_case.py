"""`YcsbTestCase`: one YCSB run with every knob fixed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Self

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import AnyTopology
from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.base.hardware import Hardware, hardware_of
from density_study.workloads.base.search import Probe, Search
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.values import ClientFiles
from density_study.workloads.ycsb.act_under_load.rules import cannot_act, lasts
from density_study.workloads.ycsb.fault_under_load.victims import cannot_recover
from density_study.workloads.ycsb.loading import Loading
from density_study.workloads.ycsb.mixes import Mix
from density_study.workloads.ycsb.noisy_neighbour.neighbour import pair
from density_study.workloads.ycsb.stores.store_rules import (
    check_copies,
    check_store,
    store_obstacle,
)
from density_study.workloads.ycsb.stores.threads_by_store import OfStore

INT_MAX = 2**31 - 1
AROUND_ESTIMATE_S = 15.0  # estimated time of a trial before and after its window
_NO_COLUMNS = frozenset(
    {
        "own_mix",
        "threads_by_store",
        "client",
        "row",
        "search",
        "fault",
        "phase",
        "min_scan_length",
        "scan_length_distribution",
        "insert_order",
        "regions_per_server",
        "load_once",
        "warm_up_daemons_s",
        "until_steady",
        "beside_load",
        "warm_up_threads",
        "variants",
    }
)
_STORE_COLUMNS = ("samples", "sites", "region_sites")


class YcsbTestCase(Loading):
    """One YCSB run: what it needs, writes and leaves, and how it follows from other runs."""

    @property
    def mode_name(self) -> str:
        return self.mix

    @property
    def load_mix(self) -> Mix:
        """The mix that writes the test case's table."""
        return "load" if self.variants is None else "variant-load"

    @property
    def is_saturation(self) -> bool:
        """Whether clients run as fast as they can."""
        if self.search is not None:
            return self.search.of_threads
        return not self.is_load and not self.is_paced

    @property
    def is_paced(self) -> bool:
        if self.search is not None:  # the rate that it finds is a result
            return False
        return self.target_percent is not None or self.target_ops_s is not None

    @property
    def cut_s(self) -> float:
        return self.warm_up_client_s + self.warm_up_s

    @property
    def adjustable_s(self) -> float:
        fixed = self.duration_s is None or self.search or self.phase or self.fault
        return 0.0 if fixed else (self.duration_s or 0.0) - self.warm_up_s

    @property
    def before_schedule_s(self) -> float:
        return self.warm_up_client_s

    @property
    def estimate_s(self) -> float:
        """A rough estimate, which a run replaces by what it observes."""
        return self._estimate_s(None)

    def estimate_on(self, topology: AnyTopology) -> float:
        return self._estimate_s(None if self.duration_s else hardware_of(topology))

    def _estimate_s(self, hardware: Hardware | None) -> float:
        work_s = self.duration_s or self._load_s(hardware)
        return AROUND_ESTIMATE_S + self.warm_up_client_s + work_s

    @property
    def window_s(self) -> float:
        return self.duration_s or self.estimate_s

    @property
    def warms_up_daemons(self) -> bool:
        return self.until_steady or self.warm_up_daemons_s > 0

    @property
    def most_threads(self) -> int:
        """The most threads of the warm-up of servers."""
        return max(self.warm_up_threads or 0, self.threads)

    @property
    def warmed(self) -> Hashable:
        """Servers are warmed up once per table, and in mode `steady` once per table and mix."""
        return (*self._table, self.mix) if self.until_steady else self._table

    @property
    def breaks_cluster(self) -> bool:
        return self.fault is not None and not (self.fault.act and not lasts(self.fault.act))

    @property
    def uses_block_caches(self) -> bool:
        return True

    @property
    def has_steady_rate(self) -> bool:
        return not self.is_load and self.phase is None

    @property
    def takes_turns(self) -> bool:
        """With a target rate, it would catch up after each rest."""
        return self.is_saturation and self.adjustable_s > 0 and not self.has_neighbour

    def writes_for(self, other: TestCase) -> bool:
        if not isinstance(other, YcsbTestCase) or not self.is_load or other.has_neighbour:
            return False
        return not other.is_load and self.shares_table_with(other)

    def shares_table_with(self, other: YcsbTestCase) -> bool:
        """Whether both run on the same rows."""
        mine = (self.records, self.row, self.insert_order, self.variants)
        return mine == (other.records, other.row, other.insert_order, other.variants)

    def measures_for(self, other: TestCase) -> bool:
        if not isinstance(other, YcsbTestCase) or self.search is not None:
            return False
        if other.target_percent is None and (
            other.search is None or not other.search.start_percent
        ):
            return False
        alike = (self.mix, self.clients) == (other.mix, other.clients)
        return (
            self.is_saturation
            and not self.has_neighbour
            and alike
            and self.shares_table_with(other)
        )

    @property
    def target_share(self) -> float | None:
        return self.target_percent

    def at_rate(self, ops_s: float) -> Self:
        if ops_s < self.clients:  # a client's target is a whole number of operations per second
            raise InputError(
                f"the target of {ops_s:.1f} ops/s is below one operation per second and client.",
                self.id,
                "raise the percentage in latency_at, or the limits of search; or use fewer clients.",
            )
        return self.model_copy(update={"target_ops_s": ops_s})

    @property
    def sought(self) -> Search | None:
        return self.search

    def at_probe(self, probe: Probe) -> Self:
        if self.search is None or self.duration_s is None:
            raise ValueError(f"{self.id} is not a search")
        measured_s = (self.search.duration_s - self.warm_up_s) * probe.stretch
        same = self.model_copy(update={"duration_s": float(round(self.warm_up_s + measured_s))})
        if self.search.of_threads:
            return same.model_copy(update={"threads": round(probe.load)})
        return same.at_rate(probe.load)

    @property
    def last_turns_ops_s(self) -> float:
        return self.threads / ((self.duration_s or self.estimate_s) - self.warm_up_s)

    def on_client_hosts(self, hosts: int) -> Self:
        return self.model_copy(update={"clients": self.clients * hosts}) if hosts > 1 else self

    def on(self, topology: AnyTopology) -> Self:
        own = self._of_store(topology)
        if own is None or own.threads is None:
            return self
        search = self.search
        if search is not None and search.of_threads:
            search = search.model_copy(update={"start_threads": own.threads})
        update = {"threads": own.threads, "warm_up_threads": own.most, "search": search}
        return self.model_copy(update=update)

    def _of_store(self, topology: AnyTopology) -> OfStore | None:
        name = topology.store.name
        return next((one for one in self.threads_by_store if one.store == name), None)

    def limited(self, ops_s: float) -> Self:
        if self.search or self.target_percent:
            raise FaultyKeyError(
                f"{self.id} needs the cluster's saturation, which existing.limits.rate prevents; name rates "
                "in latency_at, or write limits: {rate: off}",
                "workloads",
            )
        if self.target_ops_s is not None and self.target_ops_s > ops_s:
            raise FaultyKeyError(
                f"{self.id} exceeds existing.limits.rate, {ops_s:g}/s; lower it, or write another limit",
                "workloads",
            )
        return self if self.is_paced else self.model_copy(update={"target_ops_s": ops_s})

    def check_topology(self, topology: AnyTopology) -> None:
        if self.threads_by_store and self._of_store(topology) is None:
            raise InputError(
                f"{self.id}: `threads` names no number for {topology.store.title}.",
                "threads",
                f"add `{topology.store.name}` to one of its elements, or remove the store.",
                ("workloads",),
            )
        for key, whole, of in (
            ("threads", self.threads, "thread"),
            ("records", self.records, "record"),
            ("latency_at", self.target_ops_s, "operation per second"),
        ):
            if whole is not None and whole < self.clients:
                raise InputError(
                    f"{self.id}: {whole:g} {of}(s) cannot be divided among {self.clients} clients: "
                    f"each needs at least one {of}.",
                    key,
                    f"increase {key}, lower `clients`, or give fewer hosts the role client.",
                    ("workloads",),
                )

        check_store(self, topology)
        check_copies(self, topology)

    def obstacle(self, topology: AnyTopology) -> InputError | None:
        if fault := super().obstacle(topology) or store_obstacle(self, topology):
            return fault
        own = self._of_store(topology)
        if own is not None and own.threads is None:
            return InputError(
                f"{self.id}: its threads are of other stores than {topology.store.title}.",
                "threads",
                "remove this element, or name a store of the study in it.",
                ("workloads",),
            )
        if self.fault is not None:
            refusal = cannot_act if self.fault.act else cannot_recover
            return refusal(self.id, self.fault, topology)
        if not self.has_neighbour or pair(topology):
            return None
        return InputError(
            f"{self.id}: no topology has two workers on one host, so the victim has no neighbour.",
            "noisy_neighbour",
            "add a density of 2 or more, or remove `noisy_neighbour`.",
            ("factors", "vms_per_host"),
        )

    @property
    def needs_of_workers(self) -> tuple[str, ...]:
        if self.fault is None:
            return ()
        return (("check-cut",) if self.fault.cut else ()) + (
            ("check-slow-disk",) if self.fault.slow_disk else ()
        )

    def raw_files(self, client: ClientFiles) -> Iterator[tuple[str, str]]:
        yield "ycsb-summary", client.stdout
        yield "ycsb-status", client.stderr
        yield "ycsb-hdr", f"raw/{client.name}-*.hdr"
        if self.phase is not None:
            yield "ycsb-schedule", f"raw/{client.name}-schedule.csv"

    def table_row(self) -> dict[str, Any]:
        store = self.variants
        return {
            **self.model_dump(exclude=set(_NO_COLUMNS)),
            "request_distribution": str(self.request_distribution),
            "phase": self.phase.kind if self.phase else None,
            **{name: getattr(store, name) if store else None for name in _STORE_COLUMNS},
        }

    def summary_fields(self) -> dict[str, Any]:
        store = self.variants
        of_store = {"samples": store.samples, "sites": store.sites} if store else {}
        return {
            "mode": self.mix,
            "parameters": {"records": self.records, "threads": self.own_threads, **of_store},
            "target_ops_s": None if self.search else self.target_ops_s,
            "phase": self.phase.words if self.phase else None,
            "parts": self.phase.parts() if self.phase else [],
            "sought": self.search.goal if self.search else None,
            "unnamed_knobs": self.unnamed_knobs(),
            "neighbour": self.neighbour,
            "fault": self.fault.words if self.fault else None,
        }

    @property
    def latency_operations(self) -> tuple[str, ...]:
        return self.mix_facts.latency
