"""`Study`: the question and everything needed to answer it, as one validated YAML file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from workloads.base.checked import FaultyKeyError, Name, at_most, like, no_duplicates
from workloads.base.quantity import Seconds, whole_mib
from workloads.spec.hypotheses import Expectation, Slo
from workloads.spec.provider_rules import check_provider
from workloads.spec.schedule import CompareSpec, Schedule
from workloads.spec.settings import DfsioSetting, Setting
from workloads.spec.vms_spec import LibvirtUri, VmsSpec
from workloads.testdfsio.spec import DfsioSpec
from workloads.ycsb.setting import MAX_SETTINGS, YcsbSpec
from workloads.ycsb.variants.spec import GenomicsSpec

Count = Annotated[int, Field(strict=True, ge=1)]
MAX_MEMORY_MIB = 64 * 2**20
MAX_PERIOD_S = 600
MAX_TOPOLOGIES = 100
_NOT_IN_IDS = (
    "; file_size does not tell settings apart: give other `files`, or make it a study of its own"
)


def _auto_or_mib(value: object) -> object:
    return value if value == "auto" else whole_mib(value)


Cores = Annotated[int, Field(strict=True, ge=1, le=4096)] | Literal["auto"]
Memory = Annotated[
    int | Literal["auto"],
    BeforeValidator(_auto_or_mib),
    at_most(MAX_MEMORY_MIB, "MiB of memory, 64 TiB, is more than a host has"),
]
Rate = Annotated[Count, at_most(10**9, "no disk is so fast")]


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LimitsSpec(_Spec):
    """What makes an emulated medium of a disk: operations a second, MiB a second."""

    read_iops: Rate | None = None
    write_iops: Rate | None = None
    read_mib_s: Rate | None = None
    write_mib_s: Rate | None = None


class DiskSpec(_Spec):
    """A directory on a disk. `auto`: below the runs folder; medium `auto`: what the probe finds."""

    path: str = "auto"
    medium: Literal["auto", "flash", "hdd"] = "auto"
    limits: LimitsSpec | None = Field(
        None, description="emulate `medium` by these; measured before use, labelled emulated"
    )

    @model_validator(mode="after")
    def _emulates_something(self) -> DiskSpec:
        if self.limits is not None and self.medium == "auto":
            raise ValueError("a disk with limits says which medium it emulates: flash or hdd")
        if self.limits is not None and not self.limits.model_dump(exclude_none=True):
            raise ValueError("limits is empty: give read_iops, read_mib_s, or their write_ kin")
        return self


class HostSpec(_Spec):
    """A machine the study may use. `memory` is the study's share of it, not all it has."""

    name: Name
    address: str = "127.0.0.1"
    cores: Cores = "auto"
    memory: Memory = Field(description="what the study may use: 6 GiB, or auto")
    disks: tuple[DiskSpec, ...] = Field((DiskSpec(),), max_length=64)
    roles: tuple[Literal["master", "worker", "client"], ...] = ("worker",)
    usd_per_hour: float | None = Field(None, ge=0, allow_inf_nan=False)
    libvirt: LibvirtUri | None = Field(
        None, description="its libvirt; left out: qemu+ssh, signed on to as `ssh` says"
    )


class SshSpec(_Spec):
    """How hosts are signed on to. The private key is never named here: the environment does, or an
    SSH agent has it."""

    user: Annotated[str, like(r"[a-z_][a-z0-9_-]{0,31}", "the name of a user")]
    port: Annotated[int, Field(strict=True, ge=1, le=65535)] = 22
    known_hosts: str = Field("~/.ssh/known_hosts", description="file that holds the hosts' keys")


class Factors(_Spec):
    """What is varied between topologies. Their product is built once a repetition."""

    vms_per_host: tuple[Annotated[int, Field(strict=True, ge=0, le=64)], ...] = Field(min_length=1)
    regionservers_per_node: tuple[Annotated[int, Field(strict=True, ge=1, le=64)], ...] = Field(
        (1,), min_length=1
    )
    medium: tuple[Literal["flash", "hdd"], ...] | None = Field(
        None, min_length=1, description="media to compare; left out: every medium the hosts have"
    )


class StackSpec(_Spec):
    """Versions and layout common to all topologies."""

    hadoop: Literal["3.4.2"] = "3.4.2"
    hbase: Literal["2.6.4-hadoop3"] = "2.6.4-hadoop3"
    heap: Literal["auto"] = "auto"
    replication: Annotated[int, Field(strict=True, ge=1, le=10)] = 1
    base_port: Annotated[int, Field(strict=True, ge=1024, le=32000)] = 21000


class WorkloadSpec(_Spec):
    """One entry of `workloads`: exactly one of the registered kinds."""

    testdfsio: DfsioSpec | None = None
    ycsb: YcsbSpec | None = None
    genomics: GenomicsSpec | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> WorkloadSpec:
        if sum(one is not None for one in (self.testdfsio, self.ycsb, self.genomics)) != 1:
            raise ValueError("each entry names exactly one workload: testdfsio, ycsb or genomics")
        return self

    def settings(self) -> tuple[Setting, ...]:
        spec = self.testdfsio or self.ycsb or self.genomics
        return () if spec is None else spec.settings()


class MonitorSpec(_Spec):
    tool: Literal["dool"] = "dool"
    period: Annotated[Seconds, at_most(MAX_PERIOD_S, "a trial is over before a second sample")] = (
        1.0
    )
    overhead_trials: Annotated[int, Field(strict=True, ge=0, le=1000)] = Field(
        0, description="pairs of trials, monitors on and off, that measure what monitoring costs"
    )

    @model_validator(mode="after")
    def _as_the_tool_can(self) -> MonitorSpec:
        if self.period != int(self.period):
            raise FaultyKeyError("dool takes whole seconds only", "period")
        return self


class Study(_Spec):
    """The YAML file. Unknown keys are refused; every quantity carries its unit."""

    study: Name = Field(description="names the folder under runs/")
    question: str | None = None
    provider: Literal["local", "physical", "libvirt"] = "local"
    hosts: tuple[HostSpec, ...] = Field(min_length=1, max_length=256)
    ssh: SshSpec | None = None
    vms: VmsSpec | None = Field(None, description="how hosts carry guests (provider libvirt)")
    when_busy: Literal["refuse", "queue"] = Field(
        "refuse", description="what to do when another study holds a host"
    )
    factors: Factors
    stack: StackSpec = StackSpec()
    workloads: tuple[WorkloadSpec, ...] = Field(min_length=1)
    monitor: MonitorSpec = MonitorSpec()
    repetitions: Annotated[int, Field(strict=True, ge=1, le=1000)] = 1
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)] = 20130226
    slo: Slo = Field({}, description="limits of latency: {read_p99: 20 ms}")
    expect: tuple[Expectation, ...] = ()
    compare: CompareSpec | None = None
    schedule: Schedule | None = Field(None, description="cron, or {asset: uri}: a DAG of its own")

    def settings(self) -> tuple[Setting, ...]:
        """Every setting of the study, in the order written."""
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
                f"they make {topologies} topologies of each medium, at most {MAX_TOPOLOGIES}",
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
        for kind in ("ycsb", "genomics"):
            if sum(getattr(entry, kind) is not None for entry in self.workloads) > 1:
                raise FaultyKeyError(
                    f"duplicate workload {kind!r}: give it once, with all its settings", "workloads"
                )
        settings = self.settings()
        if len(settings) > MAX_SETTINGS:
            raise FaultyKeyError(
                f"they ask for {len(settings)} settings, at most {MAX_SETTINGS}", "workloads"
            )
        no_duplicates("setting", [one.id for one in settings], "workloads", why=_NOT_IN_IDS)
        for one in settings:
            if self.monitor.period > one.window_s:
                raise FaultyKeyError(
                    f"{self.monitor.period:g} s is longer than a whole trial of {one.id}, "
                    f"{one.window_s:g} s",
                    *("monitor", "period"),
                )

    @field_validator("expect")
    @classmethod
    def _answerable(
        cls, expect: tuple[Expectation, ...], info: ValidationInfo
    ) -> tuple[Expectation, ...]:
        """Each hypothesis names levels and a workload that the study has."""
        no_duplicates("name", [one.name for one in expect])
        factors, entries = info.data.get("factors"), info.data.get("workloads")
        if factors is None or entries is None:
            return expect  # wrong themselves, and told first
        for one in expect:
            levels = [str(level) for level in getattr(factors, one.compare) or ("hdd", "flash")]
            for level in (one.first, one.later):
                if level not in levels:
                    raise ValueError(
                        f"{one.name}: factors.{one.compare} has no {level!r}, only {', '.join(levels)}"
                    )
            modes = {s.mode if isinstance(s, DfsioSetting) else s.mix
                     for entry in entries for s in entry.settings()}  # fmt: skip
            if one.workload not in modes:
                raise ValueError(
                    f"{one.name}: no workload {one.workload!r}, only {', '.join(sorted(modes))}"
                )
        return expect
