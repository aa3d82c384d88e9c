"""`StudyKeys`: what a study file may say. The rules that join several keys are in `study` and `rules`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field, create_model, model_validator

from density_study.cluster.providers.provider import OF_STUDIES
from density_study.workloads.base.checked import FaultyKeyError, Name, at_most, like, no_duplicates
from density_study.workloads.base.quantity import Seconds
from density_study.workloads.base.test_case import TestCase, WorkloadSpec
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.containers_spec import ContainersSpec
from density_study.workloads.study.existing_spec import ExistingSpec
from density_study.workloads.study.factors.levels import Factors
from density_study.workloads.study.factors.stack import StackSpec
from density_study.workloads.study.factors.store import STORE_NAMES, StoreChoice, StoreSpec
from density_study.workloads.study.hosts_spec import HostSpec, SshSpec
from density_study.workloads.study.hypotheses import Expectation, Hypotheses, QuestionName, Slo
from density_study.workloads.study.notify import MAX_RECEIVERS, Receiver
from density_study.workloads.study.registry import kinds
from density_study.workloads.study.repetitions import Repetitions
from density_study.workloads.study.schedule import CompareSpec, Schedule
from density_study.workloads.study.vms_spec import VmsSpec

DeviceName = Literal[
    "pressure", "disks", "sockets", "kernel", "limits", "network", "hardware", "jmx", "gc",
    "profile", "jfr", "stalls", "slowlog", "energy",
]  # fmt: skip
MAX_PERIOD_S = 600
Turn = Annotated[
    Seconds, Field(ge=3), at_most(60, "slow phases of a host would be those of one variant")
]
LeftOut = Annotated[
    str, like(r"[\w.*?\[\]!-]{1,60}/[\w.*?\[\]!-]{1,100}", "two globs, <variant>/<test case>")
]


def spec_models() -> dict[str, type[WorkloadSpec]]:
    """Model of each key that an entry of `workloads` may have."""
    return {key: spec for kind in kinds().values() for key, spec in kind.specs.items()}


class _WorkloadEntry(Frozen):
    """One entry of `workloads`: exactly one key, the name of a registered workload."""

    @property
    def key(self) -> str:
        return next(key for key in spec_models() if getattr(self, key) is not None)

    @model_validator(mode="after")
    def _one_workload(self) -> _WorkloadEntry:
        keys = list(spec_models())
        if sum(getattr(self, key) is not None for key in keys) != 1:
            names = f"{', '.join(keys[:-1])} or {keys[-1]}"
            raise ValueError(f"each entry names exactly one workload: {names}")
        return self

    def test_cases(self) -> tuple[TestCase, ...]:
        spec: WorkloadSpec = getattr(self, self.key)
        return spec.test_cases()


if TYPE_CHECKING:
    WorkloadEntry = _WorkloadEntry
else:  # one optional field per registered key
    _FIELDS = {key: (spec | None, None) for key, spec in spec_models().items()}
    WorkloadEntry = create_model("WorkloadEntry", __base__=_WorkloadEntry, **_FIELDS)


if TYPE_CHECKING:
    ProviderName = str
else:
    ProviderName = Literal[OF_STUDIES]


class MonitorSpec(Frozen):
    """Monitor of the hosts, and its sampling period."""

    tool: Literal["dool"] = Field("dool", description="Monitor of every host.")
    period: Annotated[
        Seconds, at_most(MAX_PERIOD_S, "a trial would end before its second sample")
    ] = Field(1.0, description="Sampling period, in whole seconds.")
    also: tuple[DeviceName, ...] = Field(
        (),
        description="Telemetry devices beyond the default ones, which are `pressure` (time in which tasks "
        "waited for cores, I/O or memory), `disks` (latency, use and queue of each block device), `sockets` "
        "(TCP and network cards), `kernel` (swapping, reclaim, writeback, steps of the clock) and `limits` "
        "(CPU limits that stopped the study's nodes; daemons that are stopped or have ended, and errors in "
        "their logs): `network` (packets, drops and softirq time of each "
        "CPU), `hardware` (cycles and cache misses of the CPUs, where the kernel shows them), `jmx` (HBase "
        "and HDFS: requests, queues, compactions, ...), "
        "`gc` (pauses of the daemons' JVMs), `profile` (flame graphs of daemons and clients), `jfr` (what "
        "JDK Mission Control's rules find in Flight Recorder's recordings), `stalls` (thread dumps of "
        "daemons that stall for two seconds), `slowlog` (calls that HBase found too slow). The report "
        "names the causes of slow seconds and of slow trials from what they sample.",
    )
    overhead_trials: Annotated[int, Field(strict=True, ge=0, le=1000)] = Field(
        0,
        description="Pairs of trials with and without monitors, which measure the monitoring overhead.",
    )

    @model_validator(mode="after")
    def _whole_seconds(self) -> MonitorSpec:
        if self.period != int(self.period):
            raise FaultyKeyError("dool samples at whole seconds only", "period")
        no_duplicates("device", self.also, "also")
        return self


class StudyKeys(Frozen):
    """The keys of a study file, each valid by itself. Rules take this; a `Study` obeys them."""

    model_config = ConfigDict(
        hide_input_in_errors=True
    )  # a secret in the wrong place stays out of logs

    study: Name = Field(description="Name of the study, and of its folder below the runs folder.")
    question: str | None = Field(
        None, description="Question that the report should answer, as text."
    )
    provider: ProviderName = Field(
        "local",
        description="Where nodes run: on this machine, on hosts over SSH, in VMs, or in containers on this "
        "machine or, with the key `ssh`, on hosts. `existing`: a cluster that others run.",
    )
    existing: ExistingSpec | None = Field(
        None, description="The cluster, with provider `existing`."
    )
    hosts: tuple[HostSpec, ...] = Field(
        min_length=1,
        max_length=256,
        description="Machines that the study may use. With `existing`, the cluster's hosts that are watched "
        "over SSH: only `name`, `address` and `roles`.",
    )
    ssh: SshSpec | None = Field(None, description="SSH login of the hosts.")
    vms: VmsSpec | None = Field(None, description="VMs on the hosts, with provider `libvirt`.")
    containers: ContainersSpec | None = Field(
        None, description="Containers of a host, with provider `container`, which has defaults."
    )
    when_busy: Literal["refuse", "queue"] = Field(
        "refuse", description="What to do when another study holds a host: fail, or wait for it."
    )
    queue: Name | None = Field(
        None,
        description="Airflow queue of the study's tasks: on several workers, it chooses the worker.",
    )
    factors: Factors = Field(description="Factors to compare.")
    store: StoreChoice = Field(
        StoreSpec(),
        description=f"Store of the YCSB workloads: {STORE_NAMES}; or with a durability: "
        "`{name: hbase, durability: synced}`.",
    )
    stack: StackSpec = Field(StackSpec(), description="Software versions and settings.")
    workloads: tuple[WorkloadEntry, ...] = Field(min_length=1, description="Workloads to run.")
    monitor: MonitorSpec = Field(MonitorSpec(), description="Monitoring of the hosts.")
    quiet: bool = Field(
        False,
        description="Settings of the hosts' kernels that make noise (governor, NUMA balancing, compaction, "
        "page merging, timer migration, watchdog) are set for the time of each trial, and put back. Needs "
        "root, or the rules of `study sudo-rules --quiet-host`.",
    )
    repetitions: Repetitions = Field(
        Repetitions(at_least=1, at_most=1),
        description="Repetitions. Each one builds every topology once, in random order. A claim needs at "
        "least 5. A number (default: 1), or bounds between which the study stops once its comparisons are "
        "precise.",
    )
    budget: Seconds | None = Field(
        None,
        description="Time that a run may take, `48 h`, its analysis included. Without `repetitions`, the "
        "questions, test cases, windows and repetitions are chosen that have the most power in it. A run "
        "whose `repetitions` have bounds ends before a repetition for which no time is left.",
    )
    duet: Turn | None = Field(
        None,
        description="Length of a turn, `4 s`: the two variants stand at the same time on the same hosts, "
        "each with half of the memory, and their clients work in turns, in random order. What disturbs a "
        "host then disturbs both. For two stacks or configurations, and timed runs of YCSB.",
    )
    leave_out: tuple[LeftOut, ...] = Field(
        (),
        description="Test cases that some variants do not run, as globs `<variant>/<test case>`: "
        "`v[234]-*/testdfsio-*`. A variant of which nothing is left is not built. `study plan` shows the "
        "names, and what no question needs.",
    )
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)] = Field(
        20130226, description="Seed of every random order."
    )
    slo: Slo = Field(
        {},
        description="Latency limits, named `<operation>_p<percentile>`, for example "
        "`{read_p99: 20 ms}`. The report names the best density that meets them.",
    )
    expect: tuple[Expectation, ...] = Field((), description="Hypotheses, written before the data.")
    questions: tuple[QuestionName, ...] | None = Field(
        None,
        description="What the report decides: claims of the talk (`C5`), names in `expect`, `best-density`, "
        "or a factor and a measure (`stack-rate`, `configuration-latency`, `density-control-rate`). They "
        "share one error budget of 5 %; all else is measured, not tested. `[]`: the study only shows. "
        "Default: see `study plan`.",
    )
    compare: CompareSpec | None = Field(
        None, description="Comparison of each run with earlier runs of the study."
    )
    schedule: Schedule | None = Field(
        None,
        description="Cron expression (UTC), or `{asset: <uri>}`. The study becomes a DAG of its own.",
    )
    notify: tuple[Receiver, ...] = Field(
        (),
        max_length=MAX_RECEIVERS,
        description="Receivers of a message when a run got slower, failed, recovered or is late.",
    )

    def test_cases(self) -> tuple[TestCase, ...]:
        """Every test case of the study, in the file's order."""
        hosts = sum("client" in host.roles for host in self.hosts)
        ops_s = self.existing.limits.rate if self.existing else None
        found = (s.on_client_hosts(hosts) for entry in self.workloads for s in entry.test_cases())
        return tuple(
            test_case if ops_s is None else test_case.limited(ops_s) for test_case in found
        )

    @property
    def fit_s(self) -> float | None:
        """Seconds that it is to be fitted into; None if it is run as it is. With repetitions of its own it
        was fitted before, or by its author."""
        return None if "repetitions" in self.model_fields_set else self.budget

    @property
    def hypotheses(self) -> Hypotheses:
        # not validated again: a latency in ms is no longer text with a unit
        return Hypotheses.model_construct(
            question=self.question, slo=self.slo, expect=self.expect, questions=self.questions
        )

    @property
    def reports_late_runs(self) -> bool:
        """Whether a receiver of `notify` wants to know of a run that takes too long."""
        return any("late" in receiver.events for receiver in self.notify)
