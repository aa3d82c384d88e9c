"""A fault that a trial injects into its cluster while the clients run."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from density_study.workloads.base.values import Frozen

Killed = Literal["regionserver", "datanode", "hmaster", "nodemanager"]
WORDS: dict[Killed, str] = {
    "regionserver": "RegionServer",
    "datanode": "DataNode",
    "hmaster": "HMaster",
    "nodemanager": "NodeManager",
}


class Fault(Frozen):
    """`at_s`: seconds of the measured part of the run after which it happens."""

    kill: Killed
    at_s: float

    @property
    def id(self) -> str:
        """Part of the setting's id: `kill-regionserver-at60s`."""
        return f"kill-{self.kill}-at{self.at_s:g}s"

    @property
    def words(self) -> str:
        """For people: 'RegionServer killed after 60 s'."""
        return f"{WORDS[self.kill]} killed after {self.at_s:g} s"


class InjectedFault(Frozen):
    """The fault as it happened, in the controller's clock."""

    kill: Killed
    node: str = Field(description="the node of the victim")
    name: str = Field(description="the daemon's name on it")
    epoch_s: float
