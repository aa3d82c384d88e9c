"""`Study`: a question and everything needed to answer it, validated from one YAML file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)

from workloads.base.checked import FaultyKeyError, Name, at_most, no_duplicates
from workloads.base.quantity import Seconds
from workloads.base.setting import Setting, WorkloadSpec
from workloads.spec.hosts_spec import HostSpec, SshSpec
from workloads.spec.hypotheses import Expectation, Slo
from workloads.spec.provider_rules import check_provider
from workloads.spec.registry import kinds
from workloads.spec.schedule import CompareSpec, Schedule
from workloads.spec.vms_spec import VmsSpec

MAX_PERIOD_S = 600
MAX_TOPOLOGIES = 100
MAX_SETTINGS = 500
_NOT_IN_IDS = "; file_size is not part of a setting's id: change `files`, or write a separate study"


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Factors(_Spec):
    """Factors that vary between topologies. Every combination is built once per repetition."""

    vms_per_host: tuple[Annotated[int, Field(strict=True, ge=0, le=64)], ...] = Field(
        min_length=1, description="densities: VMs (or process groups) per host; 0: the bare host"
    )
    regionservers_per_node: tuple[Annotated[int, Field(strict=True, ge=1, le=64)], ...] = Field(
        (1,), min_length=1, description="RegionServers on each worker node"
    )
    medium: tuple[Literal["flash", "hdd"], ...] | None = Field(
        None, min_length=1, description="media to compare; default: every medium the hosts have"
    )


class StackSpec(_Spec):
    """Versions and layout common to all topologies."""

    hadoop: Literal["3.4.2"] = Field("3.4.2", description="version of Hadoop")
    hbase: Literal["2.6.4-hadoop3"] = Field("2.6.4-hadoop3", description="version of HBase")
    heap: Literal["auto"] = Field("auto", description="JVM heaps follow the nodes' memory")
    replication: Annotated[int, Field(strict=True, ge=1, le=10)] = Field(
        1, description="HDFS replication factor"
    )
    base_port: Annotated[int, Field(strict=True, ge=1024, le=32000)] = Field(
        21000, description="first of the ports that daemons listen on"
    )


def _spec_models() -> dict[str, type[WorkloadSpec]]:
    """Model of each key that an entry of `workloads` may have."""
    return {key: spec for kind in kinds().values() for key, spec in kind.specs.items()}


class _WorkloadEntry(_Spec):
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


def _workload_entry() -> type[_WorkloadEntry]:
    """The entry's model, with one optional field per registered key."""
    fields: dict[str, Any] = {key: (spec | None, None) for key, spec in _spec_models().items()}
    return create_model("WorkloadEntry", __base__=_WorkloadEntry, **fields)


if TYPE_CHECKING:
    WorkloadEntry = _WorkloadEntry
else:
    WorkloadEntry = _workload_entry()


class MonitorSpec(_Spec):
    """How hosts are monitored during trials."""

    tool: Literal["dool"] = Field("dool", description="monitor of CPU, disk, network and memory")
    period: Annotated[
        Seconds, at_most(MAX_PERIOD_S, "a trial would end before its second sample")
    ] = Field(1.0, description="sampling period, in whole seconds: 1 s")
    overhead_trials: Annotated[int, Field(strict=True, ge=0, le=1000)] = Field(
        0, description="pairs of trials, with and without monitors, that measure their overhead"
    )

    @model_validator(mode="after")
    def _whole_seconds(self) -> MonitorSpec:
        if self.period != int(self.period):
            raise FaultyKeyError("dool samples at whole seconds only", "period")
        return self


class Study(_Spec):
    """The study file. Unknown keys are rejected; every quantity has a unit."""

    study: Name = Field(description="name of the study, and of its folder below runs/")
    question: str | None = Field(None, description="the question that the study answers")
    provider: Literal["local", "physical", "libvirt"] = Field(
        "local",
        description="what nodes are: local: process groups on this machine; physical: hosts over "
        "SSH; libvirt: VMs",
    )
    hosts: tuple[HostSpec, ...] = Field(
        min_length=1, max_length=256, description="machines that the study uses"
    )
    ssh: SshSpec | None = Field(None, description="SSH login of the hosts")
    vms: VmsSpec | None = Field(None, description="the VMs of the hosts (provider libvirt)")
    when_busy: Literal["refuse", "queue"] = Field(
        "refuse", description="if another study uses a host: fail, or wait for it"
    )
    factors: Factors = Field(description="what varies between topologies")
    stack: StackSpec = Field(StackSpec(), description="versions and layout of the stack")
    workloads: tuple[WorkloadEntry, ...] = Field(min_length=1, description="what trials run")
    monitor: MonitorSpec = Field(MonitorSpec(), description="monitoring during trials")
    repetitions: Annotated[int, Field(strict=True, ge=1, le=1000)] = Field(
        1, description="builds of each topology; claims need 5 or more"
    )
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)] = Field(
        20130226, description="seed of the random order of builds and trials"
    )
    slo: Slo = Field({}, description="latency limits: {read_p99: 20 ms}")
    expect: tuple[Expectation, ...] = Field(
        (), description="hypotheses, written before the data are seen and decided by the report"
    )
    compare: CompareSpec | None = Field(None, description="comparison with earlier runs")
    schedule: Schedule | None = Field(
        None, description="when the study runs by itself: a cron expression, or {asset: uri}"
    )

    def settings(self) -> tuple[Setting, ...]:
        """Every setting of the study, in the file's order."""
        return tuple(setting for entry in self.workloads for setting in entry.settings())

    @model_validator(mode="after")
    def _coherent(self) -> Study:
        no_duplicates("host name", [host.name for host in self.hosts], "hosts")
        for name in ("vms_per_host", "regionservers_per_node", "medium"):
            no_duplicates(name, getattr(self.factors, name) or (), "factors", name)
        factors = self.factors
        topologies = len(factors.vms_per_host) * len(factors.regionservers_per_node)
        if topologies > MAX_TOPOLOGIES:
            raise FaultyKeyError(
                f"the factors make {topologies} topologies per medium; the maximum is "
                f"{MAX_TOPOLOGIES}",
                "factors",
            )
        self._check_workloads()
        for index, host in enumerate(self.hosts):
            what, paths = f"disk of host {host.name!r}", [disk.path for disk in host.disks]
            no_duplicates(what, paths, "hosts", index, "disks")
        for role in ("master", "worker", "client"):
            if not any(role in host.roles for host in self.hosts):
                raise FaultyKeyError(f"no host has the role {role!r}", "hosts", 0, "roles")
        if not any(host.disks for host in self.hosts if "worker" in host.roles):
            raise FaultyKeyError("no host with the role 'worker' has a disk", "hosts", 0, "disks")
        check_provider(self)
        return self

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
            levels = [str(level) for level in getattr(factors, factor) or ("hdd", "flash")]
            for level in (expectation.first, expectation.later):
                if level not in levels:
                    raise ValueError(
                        f"{name}: factors.{factor} has no {level!r}, only {', '.join(levels)}"
                    )
            if expectation.workload not in modes:
                raise ValueError(
                    f"{name}: no workload {expectation.workload!r}, only {', '.join(sorted(modes))}"
                )
        return expect
