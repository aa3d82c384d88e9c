"""`Tables`: state of the YCSB tables of the running cluster, shared by the trials of a build.

The state is stored in a file of the build together with the identity of the cluster's processes: a build
that is repeated after a crash has other processes, and none of the old tables.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.state.atomic import write_text

FILE = "tables.json"
# State of a table: it exists; it contains all its rows; a snapshot of them exists.
Known = Literal["there", "loaded", "snapshot"]


@dataclass(frozen=True)
class Tables:
    """State of one cluster's tables, in `path`. `cluster` is the identity of its processes."""

    path: Path
    cluster: str

    @classmethod
    def of(cls, cluster: Cluster) -> Tables:
        processes = sorted(f"{p.node} {p.pid} {p.start_ticks}" for p in cluster.processes)
        # an existing cluster has no processes of ours, and its phases never take the same milliseconds again
        known = processes or [f"{phase.name} {phase.seconds}" for phase in cluster.phases]
        identity = hashlib.sha256("\n".join(known).encode()).hexdigest()[:16]
        return cls(cluster.site.root / FILE, identity)

    def known(self, table: str) -> Known | None:
        found: Known | None = self._facts()["tables"].get(table)
        return found

    def remember(self, table: str, known: Known) -> None:
        self._add("tables", {table: known})

    def places(self, table: str) -> tuple[str, ...]:
        """Arguments of the verb `restore`: where the regions were at the snapshot; none if unknown."""
        places = self._facts().get("places", {}).get(table)
        if not places:
            return ()
        regions = ",".join(map(str, places["regions"]))
        return ("--servers", ",".join(places["servers"]), "--places", regions)

    def remember_places(self, table: str, places: Mapping[str, Any]) -> None:
        """places: `servers` (HOST:PORT), and `regions`, the index of each region's server in key order."""
        self._add("places", {table: places})

    @property
    def inserts_are_warm(self) -> bool:
        """Whether the servers' insert path is already warm."""
        return bool(self._facts()["warm_inserts"])

    @property
    def warmth_of_inserts(self) -> Mapping[str, float]:
        """The warmth that the insert path reached, as what was passed to `remember_warm_inserts`."""
        facts: Mapping[str, float] = self._facts()["warm_inserts"].get("any", {})
        return facts

    def remember_warm_inserts(self, warmth: Mapping[str, float]) -> None:
        self._add("warm_inserts", {"any": warmth})

    def is_warm(self, table: str, mix: str) -> bool:
        """Whether the servers are warmed up on `table` by `mix`."""
        return f"{table} {mix}" in self._facts()["warm"]

    def warmth(self, table: str, mix: str) -> Mapping[str, float]:
        """What was passed to `remember_warm`; empty without a warm-up."""
        facts: Mapping[str, float] = self._facts()["warm"].get(f"{table} {mix}", {})
        return facts

    @property
    def limit_is_lifted(self) -> bool:
        """Whether compactions may run without their limit: it was lifted, and not put back since."""
        return bool(self._facts().get("limit", {}).get("lifted"))

    def remember_limit(self, lifted: bool) -> None:
        self._add("limit", {"lifted": lifted})

    def remember_warm(self, table: str, mix: str, warmth: Mapping[str, float]) -> None:
        """warmth: how warm the servers were when the warm-up ended (`Warmth.facts`)."""
        self._add("warm", {f"{table} {mix}": warmth})

    def _add(self, what: str, fact: Mapping[str, Any]) -> None:
        facts = self._facts()
        facts[what] = {**facts.get(what, {}), **fact}
        write_text(self.path, json.dumps(facts))

    def _facts(self) -> dict[str, Any]:
        if self.path.exists():
            facts: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
            if facts.get("cluster") == self.cluster:
                return facts
        return {"cluster": self.cluster, "tables": {}, "warm_inserts": {}, "warm": {}}
