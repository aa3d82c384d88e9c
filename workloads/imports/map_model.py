"""`ImportMap`: the map of an import: which files belong to which trial, and what the files do not say."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from density_study.cluster.model.host import Role
from density_study.workloads.base.checked import FaultyKeyError, Name, like, no_duplicates
from density_study.workloads.base.local_time import zone_of
from density_study.workloads.base.parsing import YEARS_S
from density_study.workloads.base.quantity import Seconds, SizeBytes, SizeMib, magnitude, written_in
from density_study.workloads.base.values import Frozen
from density_study.workloads.testdfsio.modes import DfsioMode

MAX_OFFSET_S = 86400.0


def _zone(name: str) -> str:
    zone_of(name)
    return name


def _moment(value: object) -> object:
    """Epoch seconds, or an ISO 8601 time as text."""
    fault = (
        f"{value!r} is not a time from 2001 to 2103; write 2019-03-01T12:00:00Z, or epoch seconds"
    )
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(fault)
    if isinstance(value, str):
        try:
            epoch_s = datetime.fromisoformat(value).replace(tzinfo=UTC).timestamp()
        except ValueError:
            raise ValueError(fault) from None
    else:
        epoch_s = value
    if not YEARS_S[0] <= epoch_s <= YEARS_S[1]:
        raise ValueError(fault)
    return value if isinstance(value, str) else float(value)


def _offset(value: object) -> float:
    number = magnitude(value, "s", "0.2 s")
    if not -MAX_OFFSET_S <= number <= MAX_OFFSET_S:
        raise ValueError(f"{value!r} is more than a day")
    return number


def _rate(value: object) -> float:
    number = magnitude(value, "1/s", "2000/s")
    if not 0 < number < float("inf"):
        raise ValueError(f"{value!r} must be positive and finite, for example 2000/s")
    return number


def _inside(path: str) -> str:
    """A path below the imported folder, with or without * and ?."""
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts or "\0" in path:
        raise ValueError(f"{path[:80]!r} is not a path below the imported folder")
    return path


TimeZone = Annotated[str, AfterValidator(_zone)]
Moment = Annotated[float | str, BeforeValidator(_moment)]
Rate = Annotated[float, BeforeValidator(_rate), written_in("1/s")]
HostName = Annotated[
    str,
    like(
        r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?",
        "a host's short name: letters, digits and hyphens, without the domain",
    ),
]
Positive = Annotated[int, Field(strict=True, ge=1)]
_Path = Annotated[str, AfterValidator(_inside)]


class HostEntry(Frozen):
    """A host of the cluster. Leave out what you do not know."""

    name: HostName = Field(description="Name of the host, as in its monitor's file.")
    cores: Positive | None = Field(None, description="Cores.")
    memory: SizeMib | None = Field(None, description="Memory.")
    roles: tuple[Role, ...] = Field((), description="What ran on the host.")
    usd_per_hour: Annotated[float, Field(gt=0)] | None = Field(
        None, description="Price of the host."
    )
    clock_offset: Annotated[float, BeforeValidator(_offset), written_in("s")] | None = Field(
        None, description="The host's clock minus the clock of the windows, for example `0 s`."
    )


class NodeEntry(Frozen):
    """A part of a host that ran daemons: a VM, or a group of processes."""

    name: Annotated[str, like(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", "a node's name")] = Field(
        description="Name of the node, as in files of nodecpu."
    )
    host: HostName = Field(description="Host that carries the node.")
    roles: tuple[Role, ...] = Field((), description="What ran on the node.")
    cores: Positive | None = Field(None, description="Cores of the node.")
    memory: SizeMib | None = Field(None, description="Memory of the node.")


class VariantEntry(Frozen):
    """A cluster under comparison. Findings need `disk_type` and `vms_per_host` of every variant."""

    disk_type: Literal["flash", "hdd"] | None = Field(None, description="Disks of the workers.")
    vms_per_host: Annotated[int, Field(strict=True, ge=0, le=64)] | None = Field(
        None, description="VMs per host; 0 is the bare host."
    )
    regionservers_per_node: Positive | None = Field(
        None, description="RegionServers on each worker."
    )
    replication: Positive | None = Field(None, description="`dfs.replication`.")
    nodes: tuple[NodeEntry, ...] = Field(
        (), description="Nodes of the cluster. Default: one per host, named like the host."
    )
    about: dict[str, str | int | float | bool] = Field(
        {},
        description="What else you know of this variant; variants that differ in it are not compared.",
    )


class WindowEntry(Frozen):
    """When the workload ran, by the clock that the hosts' clock offsets refer to."""

    start: Moment = Field(description="Start: ISO 8601, or epoch seconds.")
    end: Moment = Field(description="End.")


class YcsbEntry(Frozen):
    """A YCSB run. What the client's command line shows need not be repeated."""

    mix: Name = Field(description="Mix of this project (`load`, `a` to `f`, ...), or another name.")
    records: Positive | None = Field(None, description="Records in the table.")
    threads: Positive | None = Field(None, description="Threads per client.")
    operations: Positive | None = Field(None, description="Operations requested of each client.")
    duration: Seconds | None = Field(None, description="Requested length of the run.")
    warm_up: Seconds | None = Field(
        None, description="Start of the window that is left out; needs interval logs."
    )
    target: Rate | None = Field(None, description="Target rate of all clients together, `2000/s`.")


class DfsioEntry(Frozen):
    """A TestDFSIO job. Its mode is in the result."""

    mode: DfsioMode | None = Field(None, description="Mode, if there is no readable result.")
    files: Positive | None = Field(None, description="`-nrFiles`.")
    file_size: SizeMib | None = Field(None, description="`-size`, of one file.")
    read_size: SizeBytes | None = Field(None, description="`-bufferSize`.")
    skip_size: SizeBytes | None = Field(None, description="`-skipSize`.")


class FileEntry(Frozen):
    """A file of a trial."""

    file: _Path = Field(description="Path below the imported folder; `*` and `?` match.")
    run: Positive | None = Field(
        None, description="Which YCSB run or TestDFSIO result of the file, from 1."
    )
    host: HostName | None = Field(
        None,
        description="Host that wrote the file; for a monitor only if the file does not name it.",
    )
    client: Name | None = Field(None, description="YCSB client. Default: ycsb-1, ycsb-2, ...")
    time_zone: TimeZone | None = Field(None, description="Time zone of the file's local times.")


def _file(value: Any) -> Any:
    return {"file": value} if isinstance(value, str) else value


class TrialEntry(Frozen):
    """One trial: one YCSB run with all its clients, or one TestDFSIO job."""

    variant: Name | None = Field(None, description="Variant that it ran on.")
    repetition: Positive = Field(
        1,
        description="Which build of the variant it ran on: trials on one cluster have equal numbers.",
    )
    ycsb: YcsbEntry | None = Field(None, description="The trial is a YCSB run.")
    testdfsio: DfsioEntry | None = Field(
        None, description="The trial is a TestDFSIO job; `{}` if its files say everything."
    )
    window: WindowEntry | None = Field(None, description="Window, if the files do not show it.")
    exit_code: Annotated[int, Field(strict=True, ge=0, le=255)] | None = Field(
        None, description="Exit code of every client."
    )
    files: tuple[Annotated[FileEntry, BeforeValidator(_file)], ...] = Field(
        min_length=1, description="Files of the trial: paths, or mappings."
    )

    @model_validator(mode="after")
    def _one_workload(self) -> TrialEntry:
        if (self.ycsb is None) == (self.testdfsio is None):
            raise ValueError("each trial has one of the keys ycsb and testdfsio")
        return self


class ImportMap(Frozen):
    """A map. Unknown keys are rejected, and every quantity has a unit."""

    study: Name = Field(description="Name of the run's study, and of its folder.")
    question: str | None = Field(None, description="Question that the report should answer.")
    about: dict[str, str | int | float | bool] = Field(
        {}, description="What you know of the system, for the disclosure: versions, settings."
    )
    time_zone: TimeZone | None = Field(
        None, description="Time zone of local times in the files, for example `Europe/Berlin`."
    )
    hosts: tuple[HostEntry, ...] = Field(
        (), description="Hosts of the cluster. Default: those with a monitor's file."
    )
    variants: dict[Name, VariantEntry] = Field(
        {}, description="Clusters under comparison. Default: one cluster, and no findings."
    )
    trials: tuple[TrialEntry, ...] = Field(min_length=1, max_length=10_000, description="Trials.")
    accept: dict[str, str] = Field(
        {},
        description="Checks that may stay unknown, each with a reason; "
        "see [validity rules](validity-rules.md).",
    )

    @model_validator(mode="after")
    def _coherent(self) -> ImportMap:
        names = [host.name for host in self.hosts]
        no_duplicates("host name", names, "hosts")
        for name, variant in self.variants.items():
            no_duplicates("node", [node.name for node in variant.nodes], "variants", name, "nodes")
            for place, node in enumerate(variant.nodes):
                if node.host not in names:
                    raise FaultyKeyError(
                        f"{node.name}: no host {node.host!r} in hosts",
                        *("variants", name, "nodes", place, "host"),
                    )
        levels = [
            (a.disk_type, a.vms_per_host, a.regionservers_per_node) for a in self.variants.values()
        ]
        why = ": variants differ in disk_type, vms_per_host or regionservers_per_node; else import two"
        no_duplicates("variant", levels, "variants", why=why)
        for place, trial in enumerate(self.trials):
            if self.variants and trial.variant not in self.variants:
                known = ", ".join(self.variants)
                raise FaultyKeyError(
                    f"{'no variant' if trial.variant is None else repr(trial.variant)}: write one of {known}",
                    *("trials", place, "variant"),
                )
            if not self.variants and trial.variant is not None:
                raise FaultyKeyError(
                    f"{trial.variant!r} is not in `variants`", *("trials", place, "variant")
                )
        return self
