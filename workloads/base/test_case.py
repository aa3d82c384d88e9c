"""`TestCase` and `WorkloadSpec`: the questions that planning, execution and analysis ask of any workload.

A workload derives its own classes from both. Nothing outside its folder tests for these classes: callers ask
a test case, and the defaults below answer for workloads that do not care.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, ClassVar, Self

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import AnyTopology, Jit
from density_study.workloads.base.search import Probe, Search
from density_study.workloads.base.values import ClientFiles, Frozen

LIMIT_IN_ESTIMATES = 5.0
JOB_LIMIT_IN_ESTIMATES = 40.0
"""The limit of a job on YARN, whose duration depends more on the cluster."""


class TestCase(Frozen):
    """One workload with every knob fixed: what one trial runs. `workload` is the registered kind's name."""

    workload: str

    # Names and order

    @property
    @abstractmethod
    def id(self) -> str:
        """Unique among the test cases of a study; part of trial names, and what `--only` matches."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Name for people: 'YCSB 95/5 short scan'."""

    @property
    @abstractmethod
    def mode_name(self) -> str:
        """What the workload does, as the study names it: TestDFSIO's mode, YCSB's mix."""

    @property
    def size_label(self) -> str:
        """Distinguishes test cases of equal label: '4 files of 64 MiB'."""
        return self.id

    @property
    def sort_key(self) -> tuple[float, ...]:
        """Position among the test cases of the same workload in tables and charts."""
        return ()

    # Time and space

    @property
    @abstractmethod
    def estimate_s(self) -> float:
        """Estimated duration of the trial on a small cluster, without server warm-up."""

    def estimate_on(self, topology: AnyTopology) -> float:
        """Estimated duration of the trial on this topology."""
        return self.estimate_s

    def limit_on(self, topology: AnyTopology) -> float:
        """Seconds after which the trial counts as hung, its data and the servers' warm-up included."""
        warm_up_s = 0.0 if self.warmed is None else self.warm_up_estimate_s(topology.jit)
        prepare_s = self.prepare_estimate_s(topology, is_written=False)
        return LIMIT_IN_ESTIMATES * (self.estimate_on(topology) + prepare_s + warm_up_s)

    @property
    def window_s(self) -> float:
        """Length of the measurement window as far as it is known in advance."""
        return self.estimate_s

    @property
    def adjustable_s(self) -> float:
        """Measured part of the window, if the study's `duration` sets it and nothing else does; else 0."""
        return 0.0

    @property
    def cut_s(self) -> float:
        """Ramp-up at the start of the window that is excluded from every metric (method 7)."""
        return 0.0

    @property
    def before_schedule_s(self) -> float:
        """Part of `cut_s` that clients spend before their schedule starts: their own warm-up."""
        return 0.0

    def on_client_hosts(self, hosts: int) -> Self:
        """This test case as it runs with `hosts` client hosts; a workload with one client ignores them."""
        return self

    def on(self, topology: AnyTopology) -> Self:
        """This test case as it runs on the topology, under the same id."""
        return self

    def limited(self, ops_s: float) -> Self:
        """This test case at no more than this rate. FaultyKeyError if it cannot be: a study of a cluster that
        serves others. A workload without a rate is limited by its queue."""
        return self

    def disk_use(self, replication: int) -> tuple[str, float]:
        """Name of the data set, and the most MiB it occupies on disk, all replicas included. Test cases that
        share a data set return the same name."""
        return self.workload, 0.0

    @property
    def table_shape(self) -> tuple[int, int]:
        """Regions or tablets of its table per server, and fields of a row; 0: it has no table."""
        return 0, 0

    @property
    def uses_block_caches(self) -> bool:
        """Whether its operations read through the RegionServers' block caches, which are then counted."""
        return False

    # Dependencies between the trials of one build

    def writes_for(self, other: TestCase) -> bool:
        """Whether this test case writes the data that `other` reads."""
        return False

    def measures_for(self, other: TestCase) -> bool:
        """Whether `other` targets a percentage of the rate that this test case measures."""
        return False

    @property
    def target_share(self) -> float | None:
        """Target as a percentage of a rate measured on the same build; None: no such target."""
        return None

    def at_rate(self, ops_s: float) -> Self:
        """This test case with its relative target resolved. InputError if the rate is too low to run at."""
        raise NotImplementedError(f"{self.workload} has no relative targets")

    @property
    def sought(self) -> Search | None:
        """What a sequence of probes of this test case searches for; None: it runs as it is."""
        return None

    def at_probe(self, probe: Probe) -> Self:
        """This test case as one probe runs it. InputError if the load is too low to run at."""
        raise NotImplementedError(f"{self.workload} has no searches")

    @property
    def last_turns_ops_s(self) -> float:
        """Most that a probe's rate loses at its end, when each thread waits for a turn that does not come."""
        return 0.0

    @property
    def warmed(self) -> Hashable | None:
        """What the servers are warmed up for, once per build; None: no server warm-up."""
        return None

    def warm_up_estimate_s(self, jit: Jit) -> float:
        """Estimated duration of that warm-up, with these compilers."""
        return 0.0

    @property
    def prepared(self) -> Hashable | None:
        """The data that is brought into the state from which trials start; None: none is."""
        return None

    def is_prepared_once(self, topology: AnyTopology) -> bool:
        """Whether that takes its time once per build; otherwise before each trial."""
        return True

    def copied_on(self, topology: AnyTopology) -> str | None:
        """The name of the copy of its data that later builds get; None: each build makes its own."""
        return None

    def prepare_estimate_s(
        self, topology: AnyTopology, is_written: bool, has_copy: bool = False
    ) -> float:
        """Estimated duration of that. `is_written`: whether an earlier trial of the build wrote the data.
        `has_copy`: whether an earlier build left a copy of it."""
        return 0.0

    @property
    def breaks_cluster(self) -> bool:
        """Whether its trial leaves the cluster without one of its daemons: it is the build's last one."""
        return False

    @property
    def has_steady_rate(self) -> bool:
        """Whether the rate is steady enough to measure monitoring overhead by it."""
        return False

    @property
    def takes_turns(self) -> bool:
        """Whether its clients can work in turns, with rests between, and measure the same."""
        return False

    # Requirements on the cluster

    def check_topology(self, topology: AnyTopology) -> None:
        """InputError if the topology cannot run the test case as requested; the study is then rejected."""

    def obstacle(self, topology: AnyTopology) -> InputError | None:
        """Why the test case is left out on this topology; None: it runs there.

        A test case that no topology can run is an error of the study.
        """
        if not topology.configuration.hdfs_cache_mib:
            return None
        return InputError(
            f"{self.id}: what it reads is not in HDFS's cache; with hdfs_pmem, only TestDFSIO runs.",
            "factors.tier",
            "add the tier `heap`, or remove this workload.",
            ("factors", "tier"),
        )

    @property
    def needs_of_workers(self) -> tuple[str, ...]:
        """Host commands that check what the test case needs of workers' machines; each raises InputError."""
        return ()

    @property
    def needs_stacks(self) -> tuple[str, ...]:
        """Stacks that its programs need on every worker and client, beyond those of the daemons there."""
        return ()

    # Analysis

    def raw_files(self, client: ClientFiles) -> Iterator[tuple[str, str]]:
        """(reader in `workloads.rows.raw.readers`, glob below the record) of each output file of a client."""
        yield from ()

    def table_row(self) -> dict[str, Any]:
        """Columns of the table `trials` that describe the test case."""
        return {"workload": self.workload}

    def summary_fields(self) -> dict[str, Any]:
        """Fields of the test case in summary.json."""
        return {"mode": self.mode_name}

    @property
    def latency_operations(self) -> tuple[str, ...]:
        """Operations that have latency metrics: READ, SCAN, ..."""
        return ()

    @property
    def is_paced(self) -> bool:
        """Whether clients are held to a target rate, so that the rate is not a result."""
        return False


class JobTestCase(TestCase):
    """A test case that runs jobs on YARN, and writes the data that they read by a job of its own."""

    def job_limit_on(self, topology: AnyTopology) -> float:
        """Seconds after which one job counts as hung."""
        return JOB_LIMIT_IN_ESTIMATES * self.estimate_on(topology)

    def prepare_estimate_s(
        self, topology: AnyTopology, is_written: bool, has_copy: bool = False
    ) -> float:
        return 0.0 if is_written else self.estimate_on(topology)

    def obstacle(self, topology: AnyTopology) -> InputError | None:
        if topology.store.hadoop:
            return super().obstacle(topology)
        return InputError(
            f"{self.id}: a cluster with {topology.store.title} has no HDFS and no YARN.",
            self.workload,
            f"remove `{self.workload}`, or let the study also have HBase.",
            ("workloads",),
        )


class WorkloadSpec(Frozen):
    """What a study file says below a workload's key in `workloads`."""

    repeatable: ClassVar[bool] = False
    """Whether a study may have several entries of this key."""

    @abstractmethod
    def test_cases(self) -> tuple[TestCase, ...]:
        """One test case per trial of a repetition on one topology."""

    @classmethod
    def has_memory_size(cls, _keys: Mapping[str, Any]) -> bool:
        """Whether its keys, as written, have a size in multiples of memory."""
        return False

    @classmethod
    def sized_by_memory(cls, keys: Mapping[str, Any], _memory_mib: int) -> dict[str, Any]:
        """The keys with such sizes as numbers, for this much memory of all worker hosts."""
        return dict(keys)
