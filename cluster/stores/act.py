"""`Act`: what an operator does to a store that serves clients, as data. Each store's folder lists its own."""

from __future__ import annotations

from dataclasses import dataclass

from density_study.cluster.model.store import Durability

TABLE, FIRST_SERVER = "{table}", "{first_server}"
"""In the words of a tool: the trial's table, and the address of the first RegionServer's page."""


@dataclass(frozen=True)
class Act:
    """It has one of `tool`, `restarts` and `empties`.

    tool: commands of the store's tool, in order. before: the same, before the clients start.
    restarts: the daemon whose processes are stopped and started, each once the one before serves again.
    empties: a worker leaves HDFS, after all of its blocks have another replica elsewhere.
    lasting: the cluster has changed afterwards, and the trial is the last of its build.
    least_servers: RegionServers that it needs. not_at: levels of durability that have no such act.
    """

    name: str
    tool: tuple[tuple[str, ...], ...] = ()
    before: tuple[tuple[str, ...], ...] = ()
    restarts: str = ""
    empties: bool = False
    lasting: bool = False
    least_servers: int = 0
    not_at: tuple[Durability, ...] = ()

    @property
    def words(self) -> str:
        """'major compaction'."""
        return self.name.replace("-", " ")
