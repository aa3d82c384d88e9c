"""The processes of the study's nodes on this machine. Standard library only: it runs on hosts."""

from __future__ import annotations

from collections.abc import Mapping

from density_study.workloads.monitors.nodecpu_sampler import Processes

LOOKED_FOR = 5
"""Rounds after which new processes are looked for: to list all processes costs most."""


class TaggedNodes:
    """tag: that of the build."""

    def __init__(self, tag: str) -> None:
        self._processes = Processes(tag)
        self._rounds, self._by_pid = 0, dict[int, str]()

    def by_pid(self) -> Mapping[int, str]:
        """The node of each process, for the next round. Some may have ended."""
        if self._rounds % LOOKED_FOR == 0:
            self._by_pid = {one.identity[0]: one.node for one in self._processes.readings()}
        self._rounds += 1
        return self._by_pid
