"""`Study`: a question and everything needed to answer it, validated from one YAML file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    ConfigDict,
    Field,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)

from density_study.cluster.model.secrets import has_login
from density_study.cluster.stack.java import fault_of
from density_study.workloads.base.checked import (
    FaultyKeyError,
    Name,
    at_most,
    leaves,
    no_duplicates,
)
from density_study.workloads.base.quantity import Seconds
from density_study.workloads.base.setting import Setting, WorkloadSpec
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.containers_spec import ContainersSpec
from density_study.workloads.study.existing_spec import ExistingSpec, with_client_host
from density_study.workloads.study.factors import Factors, StackSpec
from density_study.workloads.study.hosts_spec import HostSpec, SshSpec
from density_study.workloads.study.hypotheses import Expectation, Slo
from density_study.workloads.study.memory_sizes import sized_by_memory
from density_study.workloads.study.network_spec import check_network
from density_study.workloads.study.notify import MAX_RECEIVERS, Receiver
from density_study.workloads.study.provider_rules import check_provider
from density_study.workloads.study.registry import kinds
from density_study.workloads.study.repetitions import Repetitions
from density_study.workloads.study.schedule import CompareSpec, Schedule
from density_study.workloads.study.store_spec import StoreChoice, StoreSpec, check_stores
from density_study.workloads.study.tier_spec import check_tiers
from density_study.workloads.study.vms_spec import VmsSpec

DeviceName = Literal["pressure", "disks", "sockets", "network", "jmx", "gc", "profile"]
MAX_PERIOD_S = 600
MAX_TOPOLOGIES = 100
MAX_SETTINGS = 500
_NOT_IN_IDS = "; file_size is not part of a setting's id: change `files`, or write a separate study"


def _spec_models() -> dict[str, type[WorkloadSpec]]:
    """Model of each key that an entry of `workloads` may have."""
    return {key: spec for kind in kinds().values() for key, spec in kind.specs.items()}


class _WorkloadEntry(Frozen):
    """One entry of `workloads`: exactly one key, the name of a registered workload."""

    @property
    def key(self) -> str:
        return next(key for key in _spec_models() if getattr(self, key) is not None)

    @model_validator(mode="after")
    def _one_workload(self) -> _WorkloadEntry:
        keys = list(_spec_models())
        if sum(getattr(self, key) is not None for key in keys) != 1:
            names = f"{', '.join(keys[:-1])} or {keys[-1]}"
            raise ValueError(f"each entry names exactly one workload: {names}")
        return self

    def settings(self) -> tuple[Setting, ...]:
        spec: WorkloadSpec = getattr(self, self.key)
        return spec.settings()


if TYPE_CHECKING:
    WorkloadEntry = _WorkloadEntry
else:  # one optional field per registered key
    _FIELDS = {key: (spec | None, None) for key, spec in _spec_models().items()}
    WorkloadEntry = create_model("WorkloadEntry", __base__=_WorkloadEntry, **_FIELDS)


class MonitorSpec(Frozen):
    """Monitor of the hosts, and its sampling period."""

    tool: Literal["dool"] = Field("dool", description="Monitor of every host.")
    period: Annotated[
        Seconds, at_most(MAX_PERIOD_S, "a trial would end before its second sample")
    ] = Field(1.0, description="Sampling period, in whole seconds.")
    also: tuple[DeviceName, ...] = Field(
        (),
        description="Telemetry devices, each off by default because each costs something: `pressure` "
        "(time in which tasks waited for cores, I/O or memory), `disks` (latency, use and queue of each "
        "block device), `sockets` (TCP), `network` (packets, drops and softirq time of each CPU), "
        "`jmx` (HBase and HDFS: requests, queues, compactions, ...), "
        "`gc` (pauses of the daemons' JVMs), `profile` (flame graphs of RegionServers). The report names "
        "what moved with a slow second.",
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


class Study(Frozen):
    """A study file. Unknown keys are rejected, and every quantity has a unit."""

    model_config = ConfigDict(
        hide_input_in_errors=True
    )  # a secret in the wrong place stays out of logs

    study: Name = Field(description="Name of the study, and of its folder below the runs folder.")
    question: str | None = Field(
        None, description="Question that the report should answer, as text."
    )
    provider: Literal["local", "physical", "libvirt", "container", "existing"] = Field(
        "local",
        description="Where nodes run: on this machine, on hosts over SSH, in VMs, or in containers on this "
        "machine or, with the key `ssh`, on hosts. `existing`: a cluster that stands already.",
    )
    existing: ExistingSpec | None = Field(
        None,
        description="The cluster, with provider `existing`.",
    )
    hosts: tuple[HostSpec, ...] = Field(
        min_length=1,
        max_length=256,
        description="Machines that the study may use. With `existing`, the cluster's hosts that are watched "
        "over SSH: `name`, `address` and `roles` alone.",
    )
    ssh: SshSpec | None = Field(None, description="SSH login of the hosts.")
    vms: VmsSpec | None = Field(None, description="VMs on the hosts, with provider `libvirt`.")
    containers: ContainersSpec | None = Field(
        None,
        description="Containers of a host, with provider `container`, which has defaults.",
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
        description="Store of the YCSB workloads: `hbase`, `accumulo`, `cassandra`, `kudu`, `redis`, "
        "`redis-cluster`, `rocksdb` or (only with `existing.endpoint`) `aerospike`, or with a durability: "
        "`{name: redis, durability: synced}`.",
    )
    stack: StackSpec = Field(StackSpec(), description="Software versions and settings.")
    workloads: tuple[WorkloadEntry, ...] = Field(min_length=1, description="Workloads to run.")
    monitor: MonitorSpec = Field(MonitorSpec(), description="Monitoring of the hosts.")
    repetitions: Repetitions = Field(
        Repetitions(at_least=1, at_most=1),
        description="Repetitions. Each one builds every topology once, in random order. A claim needs at "
        "least 5. A number (default: 1), or bounds between which the study stops once its comparisons are "
        "sharp.",
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

    def settings(self) -> tuple[Setting, ...]:
        """Every setting of the study, in the file's order."""
        hosts = sum("client" in host.roles for host in self.hosts)
        return tuple(
            setting.on_client_hosts(hosts)
            for entry in self.workloads
            for setting in entry.settings()
        )

    @property
    def node_provider(self) -> str:
        """The provider of `cluster.providers` that divides the hosts."""
        return (
            f"{self.provider}-ssh" if self.provider == "container" and self.ssh else self.provider
        )

    @property
    def reports_late_runs(self) -> bool:
        """Whether a receiver of `notify` wants to know of a run that takes too long."""
        return any("late" in receiver.events for receiver in self.notify)

    @model_validator(mode="before")
    @classmethod
    def _without_passwords(cls, value: Any) -> Any:
        for path, text in leaves(value):
            if isinstance(text, str) and has_login(text):
                raise FaultyKeyError(
                    "this looks like a secret: an address with a password. A study is stored with its runs",
                    *path,
                )
        return value

    @model_validator(mode="before")
    @classmethod
    def _of_given_cluster(cls, value: Any) -> Any:
        return with_client_host(value)

    @model_validator(mode="before")
    @classmethod
    def _sized(cls, value: Any) -> Any:
        return sized_by_memory(value, _spec_models())

    @model_validator(mode="after")
    def _coherent(self) -> Study:
        no_duplicates("host name", [host.name for host in self.hosts], "hosts")
        topologies = self.factors.arms_per_medium
        if topologies > MAX_TOPOLOGIES:
            raise FaultyKeyError(
                f"the factors make {topologies} topologies per medium; the maximum is "
                f"{MAX_TOPOLOGIES}",
                "factors",
            )
        self._check_java()
        self._check_workloads()
        for index, host in enumerate(self.hosts):
            what, paths = f"disk of host {host.name!r}", [disk.path for disk in host.disks]
            no_duplicates(what, paths, "hosts", index, "disks")
        if self.provider != "existing":
            self._check_roles()
        check_provider(self)
        check_stores(self)
        check_network(self)
        check_tiers(self)
        return self

    def _check_roles(self) -> None:
        for role in ("master", "worker", "client"):
            if not any(role in host.roles for host in self.hosts):
                raise FaultyKeyError(f"no host has the role {role!r}", "hosts", 0, "roles")
        if not any(host.disks for host in self.hosts if "worker" in host.roles):
            raise FaultyKeyError("no host with the role 'worker' has a disk", "hosts", 0, "disks")

    def _check_java(self) -> None:
        """Each version of Hadoop runs on its Java."""
        levels = self.factors.versions(self.stack.versions)
        key = ("factors", "stack") if levels else ("stack", "java")
        for versions in levels.values() or (self.stack.versions,):
            if versions.java and (fault := fault_of(versions.java, versions.hadoop)):
                raise FaultyKeyError(f"Hadoop {versions.hadoop} {fault}", *key)

    def _check_workloads(self) -> None:
        for key, spec in _spec_models().items():
            if not spec.repeatable and sum(entry.key == key for entry in self.workloads) > 1:
                raise FaultyKeyError(
                    f"duplicate workload {key!r}: write one entry with all its settings",
                    "workloads",
                )
        settings = self.settings()
        if len(settings) > MAX_SETTINGS:
            raise FaultyKeyError(
                f"the workloads expand to {len(settings)} settings; the maximum is {MAX_SETTINGS}",
                "workloads",
            )
        no_duplicates("setting", [s.id for s in settings], "workloads", why=_NOT_IN_IDS)
        for setting in settings:
            if self.monitor.period > setting.window_s:
                raise FaultyKeyError(
                    f"{self.monitor.period:g} s is longer than a trial of {setting.id}, "
                    f"{setting.window_s:g} s",
                    *("monitor", "period"),
                )

    @field_validator("expect")
    @classmethod
    def _answerable(
        cls, expect: tuple[Expectation, ...], info: ValidationInfo
    ) -> tuple[Expectation, ...]:
        """Each hypothesis names levels and a workload of the study."""
        no_duplicates("name", [expectation.name for expectation in expect])
        factors, entries = info.data.get("factors"), info.data.get("workloads")
        if factors is None or entries is None:
            return expect  # they are invalid, and their own error comes first
        modes = {setting.mode_name for entry in entries for setting in entry.settings()}
        for expectation in expect:
            name, factor = expectation.name, expectation.compare
            levels = factors.levels(factor) or (("hdd", "flash") if factor == "medium" else ())
            for level in (expectation.first, expectation.later):
                if level not in levels:
                    raise ValueError(
                        f"{name}: factors.{factor} has no {level!r}, only {', '.join(levels) or 'one'}"
                    )
            if expectation.workload not in modes:
                raise ValueError(
                    f"{name}: no workload {expectation.workload!r}, only {', '.join(sorted(modes))}"
                )
        return expect
