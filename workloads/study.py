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

from workloads.genomics.spec import GenomicsSpec
from workloads.hypotheses import Expectation, Sla
from workloads.provider_rules import check_provider
from workloads.quantity import Seconds, whole_mib
from workloads.schedule import CompareSpec, Schedule
from workloads.settings import DfsioSetting, Setting
from workloads.testdfsio.spec import DfsioSpec
from workloads.vms_spec import LibvirtUri, VmsSpec
from workloads.ycsb.setting import YcsbSpec

Name = Annotated[str, Field(pattern=r"^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$")]
Count = Annotated[int, Field(strict=True, ge=1)]
_NOT_IN_IDS = (
    "; file_size does not tell settings apart: give other `files`, or make it a study of its own"
)


def _auto_or_mib(value: object) -> object:
    return value if value == "auto" else whole_mib(value)


Cores = Annotated[int, Field(strict=True, ge=1, le=4096)] | Literal["auto"]
Memory = Annotated[int | Literal["auto"], BeforeValidator(_auto_or_mib)]


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LimitsSpec(_Spec):
    """What makes an emulated medium of a disk: operations a second, MiB a second."""

    read_iops: Count | None = None
    write_iops: Count | None = None
    read_mib_s: Count | None = None
    write_mib_s: Count | None = None


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
    disks: tuple[DiskSpec, ...] = (DiskSpec(),)
    roles: tuple[Literal["master", "worker", "client"], ...] = ("worker",)
    usd_per_hour: float | None = Field(None, ge=0)
    libvirt: LibvirtUri | None = Field(
        None, description="its libvirt; left out: qemu+ssh, signed on to as `ssh` says"
    )


class SshSpec(_Spec):
    """How hosts are signed on to. The private key is never named here: the environment does, or an
    SSH agent has it."""

    user: Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_-]{0,31}$")]
    port: Annotated[int, Field(strict=True, ge=1, le=65535)] = 22
    known_hosts: str = Field("~/.ssh/known_hosts", description="file that holds the hosts' keys")


class Factors(_Spec):
    """What is varied between topologies. Their product is built once a block."""

    vms_per_host: tuple[Annotated[int, Field(strict=True, ge=0, le=64)], ...] = Field(min_length=1)
    regionservers_per_node: tuple[Count, ...] = Field((1,), min_length=1)
    medium: tuple[Literal["flash", "hdd"], ...] | None = Field(
        None, description="media to compare; left out: every medium the hosts have"
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
    period: Seconds = 1.0
    cost_trials: Annotated[int, Field(strict=True, ge=0, le=1000)] = Field(
        0, description="pairs of trials, monitors on and off, that measure what monitoring costs"
    )

    @model_validator(mode="after")
    def _as_the_tool_can(self) -> MonitorSpec:
        if self.period != int(self.period):
            raise ValueError("dool takes whole seconds only")
        return self


class Study(_Spec):
    """The YAML file. Unknown keys are refused; every quantity carries its unit."""

    study: Name = Field(description="names the folder under runs/")
    question: str | None = None
    provider: Literal["local", "physical", "libvirt"] = "local"
    hosts: tuple[HostSpec, ...] = Field(min_length=1)
    ssh: SshSpec | None = None
    vms: VmsSpec | None = Field(None, description="how hosts carry guests (provider libvirt)")
    when_busy: Literal["refuse", "queue"] = Field(
        "refuse", description="what to do when another study holds a host"
    )
    factors: Factors
    stack: StackSpec = StackSpec()
    workloads: tuple[WorkloadSpec, ...] = Field(min_length=1)
    monitor: MonitorSpec = MonitorSpec()
    blocks: Annotated[int, Field(strict=True, ge=1, le=1000)] = 1
    seed: Annotated[int, Field(strict=True, ge=0)] = 20130226
    sla: Sla = Field({}, description="limits of latency: {read_p99: 20 ms}")
    expect: tuple[Expectation, ...] = ()
    compare: CompareSpec | None = None
    schedule: Schedule | None = Field(None, description="cron, or {asset: uri}: a DAG of its own")

    def settings(self) -> tuple[Setting, ...]:
        """Every setting of the study, in the order written."""
        return tuple(setting for entry in self.workloads for setting in entry.settings())

    @model_validator(mode="after")
    def _coherent(self) -> Study:
        _no_duplicates("host name", [host.name for host in self.hosts])
        _no_duplicates("vms_per_host", list(self.factors.vms_per_host))
        for kind in ("ycsb", "genomics"):
            if sum(getattr(entry, kind) is not None for entry in self.workloads) > 1:
                raise ValueError(
                    f"duplicate workload {kind!r}: give it once, with all its settings"
                )
        _no_duplicates("setting", [setting.id for setting in self.settings()], _NOT_IN_IDS)
        for host in self.hosts:
            _no_duplicates(f"disk of host {host.name!r}", [disk.path for disk in host.disks])
        for role in ("master", "worker", "client"):
            if not any(role in host.roles for host in self.hosts):
                raise ValueError(f"no host has the role {role!r}")
        check_provider(self)
        return self

    @field_validator("expect")
    @classmethod
    def _answerable(
        cls, expect: tuple[Expectation, ...], info: ValidationInfo
    ) -> tuple[Expectation, ...]:
        """Each hypothesis names levels and a workload that the study has."""
        _no_duplicates("name", [one.name for one in expect])
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


def _no_duplicates(what: str, values: list[object] | list[str] | list[int], why: str = "") -> None:
    seen: set[object] = set()
    for value in values:
        if value in seen:
            raise ValueError(f"duplicate {what}: {value!r}{why}")
        seen.add(value)
