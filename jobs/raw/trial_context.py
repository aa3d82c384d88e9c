"""`TrialFacts`: what a trial's manifest says that the rows of one of its files are understood by.

Executors load this: the manifest's models stay on the driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workloads.base.values import ClockOffset
    from workloads.record.manifest import Manifest


@dataclass(frozen=True)
class TrialFacts:
    """window: its start and end, controller's clock, epoch seconds; None: the trial has none.
    warm_up_s: what is cut from its start (method 7).
    clock_offset_s: how far the file's clock is ahead of the controller's; what is not known counts as
    none here, and the checks hold that against the trial. period_s: of the monitor that wrote it.
    scopes: of each node by name."""

    window: tuple[float, float] | None = None
    clock_offset_s: float = 0.0
    period_s: float = 0.0
    warm_up_s: float = 0.0
    scopes: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def measured(self) -> tuple[float, float] | None:
        """The window after the warm-up; None if nothing is left of it."""
        if self.window is None or self.window[0] + self.warm_up_s >= self.window[1]:
            return None
        return self.window[0] + self.warm_up_s, self.window[1]


@dataclass(frozen=True)
class Subject:
    """Whose rows some `rows` of a table are that stand together: those of one file of one trial and host."""

    trial: str
    host: str
    rows: int
    facts: TrialFacts


def facts_of(manifest: Manifest, host: str | None, period_s: float = 0.0) -> TrialFacts:
    """Of a file that was written on `host` (None: on one nobody knows)."""
    window = manifest.window
    has_time = window is not None and window.end_epoch_s > window.start_epoch_s
    return TrialFacts(
        window=(window.start_epoch_s, window.end_epoch_s) if window and has_time else None,
        clock_offset_s=clock_offsets(manifest.clock).get(host or "", 0.0),
        period_s=period_s,
        warm_up_s=getattr(manifest.setting, "cut_s", 0.0),
        scopes={
            node["name"]: node_scope(node["name"], node["roles"])
            for node in manifest.topology["nodes"]
        },
    )


def host_of_node(manifest: Manifest, node: str | None) -> str | None:
    """The host that the trial's node `node` is on."""
    nodes: Iterable[Mapping[str, Any]] = manifest.topology["nodes"]
    return next((str(one["host"]) for one in nodes if one["name"] == node), None)


def clock_offsets(clock: Iterable[ClockOffset]) -> Mapping[str, float]:
    """Each host's offset in the middle of the trial: the mean of before and after."""
    return {entry.host: (entry.before_s + entry.after_s) / 2 for entry in clock}


def node_scope(name: str, roles: Iterable[str]) -> str:
    """Under which scope a node's numbers are told: a client's node is `client`."""
    return "client" if tuple(roles) == ("client",) else f"node:{name}"
