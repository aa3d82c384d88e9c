"""A fault that a trial injects into its cluster while the clients run."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.base.values import Frozen

Daemon = Literal["regionserver", "datanode", "hmaster", "nodemanager"]
Place = Literal["node", "host"]
Killed = Daemon | Place
WORDS: dict[Killed, str] = {
    "regionserver": "RegionServer",
    "datanode": "DataNode",
    "hmaster": "HMaster",
    "nodemanager": "NodeManager",
    "node": "node",
    "host": "host",
}


class DiskLimits(Frozen):
    """The limits of a disk that a fault slows down; null: this one stays as it was."""

    read_iops: int | None = Field(None, gt=0, strict=True, description="reads per second: 100")
    write_iops: int | None = Field(None, gt=0, strict=True, description="writes per second: 100")
    read_mib_s: int | None = Field(None, gt=0, strict=True, description="MiB read per second: 5")
    write_mib_s: int | None = Field(
        None, gt=0, strict=True, description="MiB written per second: 5"
    )

    @model_validator(mode="after")
    def _limits_something(self) -> Self:
        if not self.given:
            raise FaultyKeyError("a slow disk needs a limit, like read_mib_s: 5", "read_mib_s")
        return self

    @property
    def given(self) -> dict[str, int]:
        return self.model_dump(exclude_none=True)


class Fault(Frozen):
    """Exactly one of kill, cut, slow_disk and act, the name of what an operator does. `at_s`: seconds of the
    measured part of the run after which it happens. `for_s`: how long a cut or a slow disk lasts."""

    kill: Killed | None = None
    cut: Place | None = None
    slow_disk: DiskLimits | None = None
    act: str | None = None
    at_s: float
    for_s: float | None = None

    @property
    def where(self) -> Killed:
        """What it takes: a daemon, or a node or host."""
        return self.kill or self.cut or "node"

    @property
    def what(self) -> str:
        return _what(self.act, self.kill, self.cut)

    @property
    def id(self) -> str:
        """Part of the test case's id: `kill-regionserver-at60s`, `cut-host-at60s-for30s`."""
        name = f"kill-{self.kill}" if self.kill else self.what.replace(" ", "-")
        length = "" if self.for_s is None else f"-for{self.for_s:g}s"
        return f"{name}-at{self.at_s:g}s{length}"

    @property
    def words(self) -> str:
        """For people: 'RegionServer killed after 60 s'."""
        if self.kill:
            return f"{WORDS[self.kill]} killed after {self.at_s:g} s"
        if self.act:
            return f"{self.what} after {self.at_s:g} s"
        done = f"{self.cut} cut off"
        if self.slow_disk is not None:
            given = ", ".join(f"{name} {value}" for name, value in self.slow_disk.given.items())
            done = f"disk of a node slowed down ({given})"
        return f"{done} after {self.at_s:g} s for {self.for_s:g} s"


class InjectedFault(Frozen):
    """The fault as it happened, in the controller's clock. For a node or a host, each of its daemons.

    `until_epoch_s`: the end of a cut, of a slow disk, or of an act. `proof`: for a slow disk, limits and
    measured values.
    """

    kill: Killed | None = None
    cut: Place | None = None
    slow_disk: bool = False
    act: str | None = None
    node: str = Field(description="the node of the victim")
    name: str = Field(description="the daemon's name on it; empty: all of it")
    epoch_s: float
    until_epoch_s: float | None = None
    proof: dict[str, Any] = Field(default_factory=dict)

    @property
    def what(self) -> str:
        return _what(self.act, self.kill, self.cut)


def _what(act: str | None, kill: Killed | None, cut: Place | None) -> str:
    """In a word or two: 'regionserver', 'cut host', 'slow disk', 'major compaction'."""
    if act:
        return act.replace("-", " ")
    return kill or (f"cut {cut}" if cut else "slow disk")
