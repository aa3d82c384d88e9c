"""`TrialFacts`: the parts of a trial's manifest that are needed to interpret the rows of one of its files.

Executors import this module, so it does not import the models of the manifest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from density_study.workloads.rows.arrays.arrow_tables import Array
from density_study.workloads.rows.raw.own_time import ROUNDING_S, Turns, own_time

if TYPE_CHECKING:
    from density_study.workloads.base.values import ClientRun, ClockOffset
    from density_study.workloads.record.manifest import Manifest
    from density_study.workloads.record.recorded import ImportedClient


@dataclass(frozen=True)
class TrialFacts:
    """window: start and end, controller's clock, epoch seconds; None if the trial has no window.
    warm_up_s: ramp-up that is cut from its start (method 7).
    clock_offset_s: lead of the file's clock over the controller's. An unknown offset is 0 here, and a check
    reports it. period_s: sampling period of the monitor. scopes: scope of each node, by name.
    time_zone: that of the monitor's local times, if they need one.
    turns: those of the trial, controller's clock; empty: it did not take turns. The window is in the trial's
    time, in which only its turns pass."""

    window: tuple[float, float] | None = None
    clock_offset_s: float = 0.0
    period_s: float = 0.0
    warm_up_s: float = 0.0
    scopes: Mapping[str, str] = field(default_factory=dict, hash=False)
    time_zone: str = ""
    turns: Turns = ()

    def at_s(self, epoch_s: Array) -> Array:
        """Moments of the file's clock in the trial's time: the controller's, without turns of others."""
        there_s = epoch_s - self.clock_offset_s
        if self.window is None or not self.turns:
            return there_s
        return own_time(there_s, self.window[1], self.turns)

    def moment_s(self, epoch_s: float) -> float:
        """`at_s` of one moment."""
        return float(self.at_s(np.array([epoch_s]))[0])

    def spans_s(self, until_epoch_s: Array, lasted_s: Array | float) -> tuple[Array, Array]:
        """Begin and end of spans in the trial's time. One that reaches into another trial's turn is empty:
        what was sampled in it belongs to both."""
        until_s = self.at_s(until_epoch_s)
        since_s = until_s - lasted_s
        if self.turns:
            is_own = self.at_s(until_epoch_s - lasted_s) <= since_s + ROUNDING_S
            since_s = np.where(is_own, since_s, until_s)
        return since_s, until_s

    def events_s(self, until_epoch_s: Array, lasted_s: Array | float) -> tuple[Array, Array]:
        """Begin and end of events in the trial's time: equal, of one in another trial's turn."""
        until_s = self.at_s(until_epoch_s)
        return self.at_s(until_epoch_s - lasted_s) if self.turns else until_s - lasted_s, until_s

    @property
    def measured(self) -> tuple[float, float] | None:
        """The window after the ramp-up; None if it is empty."""
        if self.window is None or self.window[0] + self.warm_up_s >= self.window[1]:
            return None
        return self.window[0] + self.warm_up_s, self.window[1]


@dataclass(frozen=True)
class Subject:
    """A contiguous run of `rows` table rows that came from one file (one trial, one host) of a monitor's
    `kind`."""

    trial: str
    kind: str
    host: str
    rows: int
    facts: TrialFacts


def facts_of(
    manifest: Manifest, host: str | None, period_s: float = 0.0, time_zone: str = ""
) -> TrialFacts:
    """The facts for a file written on `host` (None: unknown host)."""
    window = manifest.window
    has_time = window is not None and window.end_epoch_s > window.start_epoch_s
    return TrialFacts(
        window=(window.start_epoch_s, window.end_epoch_s) if window and has_time else None,
        clock_offset_s=clock_offsets(manifest.clock).get(host or "", 0.0),
        period_s=period_s,
        warm_up_s=getattr(manifest.test_case, "cut_s", 0.0),
        scopes=node_scopes(manifest),
        time_zone=time_zone,
        turns=manifest.turns.own if manifest.turns else (),
    )


def host_of_client(manifest: Manifest, client: ClientRun | ImportedClient) -> str | None:
    """The host that the client ran on; None if it is not known."""
    node = getattr(client, "node", None)  # only our clients have one
    hosts = (one.host for one in manifest.topology.nodes if one.name == node)
    return next(hosts, getattr(client, "host", None))


def clock_offsets(clock: Iterable[ClockOffset]) -> Mapping[str, float]:
    """Clock offset of each host in the middle of the trial."""
    # the mean of before and after: a clock drifts nearly linearly within a trial
    return {entry.host: (entry.before_s + entry.after_s) / 2 for entry in clock}


def node_scopes(manifest: Manifest) -> dict[str, str]:
    """Scope of each node's metrics: node:<name>. A node that is only a client is `client`, or client:<name>
    where there are several."""
    nodes = manifest.topology.nodes
    clients = [node.name for node in nodes if tuple(node.roles) == ("client",)]
    several = sum("client" in node.roles for node in nodes) > 1
    return {
        node.name: f"node:{node.name}"
        if node.name not in clients
        else f"client:{node.name}"
        if several
        else "client"
        for node in nodes
    }
