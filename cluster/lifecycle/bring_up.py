"""Bring-up: from a topology to a ready cluster, with the seconds of each phase."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from density_study.cluster.lifecycle.disclosed import disclose
from density_study.cluster.lifecycle.host_facts import facts_of
from density_study.cluster.lifecycle.in_effect import in_effect
from density_study.cluster.lifecycle.jvm_facts import chosen_by
from density_study.cluster.lifecycle.network_proof import prove_network
from density_study.cluster.lifecycle.rendering import blueprint_of
from density_study.cluster.lifecycle.startup_monitor import POLL_S, StartupMonitor
from density_study.cluster.model.cluster import (
    CLUSTER,
    Cluster,
    Endpoints,
    Phase,
    Site,
    cluster_json,
)
from density_study.cluster.model.errors import BringUpError
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.transport import Command, ProcessId, Transport
from density_study.cluster.providers.emulation import emulated_of, pmem_of
from density_study.cluster.providers.provider import Provider, out_of_memory, provider_of
from density_study.cluster.providers.stacks import Stacks
from density_study.cluster.render.daemons import Daemon
from density_study.cluster.render.rendered import Rendered, owner
from density_study.cluster.state import atomic
from density_study.cluster.state.events import BuildReady, PhaseEnded, PhasesStarted, PhaseState
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.timeout_scale import acceleration, timeout_scale
from density_study.cluster.stores.answers import REQUEST_TIMEOUT_S, Service, fetch_json
from density_study.cluster.stores.store import render, store_of

DEADLINE_S = 180.0
NO_NATIVE = "Unable to load native-hadoop library"
"""Hadoop logs this where short-circuit reads and read-ahead are unavailable."""
FinalCheck = Callable[[Cluster], None]


def bring_up(
    site: Site,
    topology: Topology,
    stacks: Stacks,
    journal: Journal,
    *,
    final_check: FinalCheck | None = None,
    deadline_s: float = DEADLINE_S,
) -> Cluster:
    """Build and start a cluster and prove it ready. Also saves it as <site.root>/cluster.json.

    Phases in seconds: `render`; `start`; `hdfs`, `yarn` and `hbase`, each from the first process
    started until ready, so that they overlap; `check` for `final_check`; `total`. InputError before
    anything is started; BringUpError when a daemon dies or is not ready by the deadline. After a
    failure the started processes keep running, for their logs: call `tear_down` in every case.
    """
    phases = Phases(site, journal)
    with phases.timed("total"):
        build = _Build(site, topology, stacks, journal, phases)
        with build.reserve_ports():
            build.create()
            watch = build.start_explained(deadline_s)
        cluster = build.cluster(watch)
        if final_check is not None:
            with phases.timed("check"):
                final_check(cluster)
    return phases.ready(cluster)


class _Build:
    """State shared by the steps of one bring-up."""

    def __init__(
        self, site: Site, topology: Topology, stacks: Stacks, journal: Journal, phases: Phases
    ) -> None:
        self.site = site
        self.topology = topology
        self.stacks = stacks
        self.journal = journal
        self.phases = phases
        self.timeout_scale = 1.0
        self.network: dict[str, Any] = {}
        self.initialising: ProcessId | None = None
        self.provider: Provider[Topology] = provider_of(topology)
        self.transport: Transport = self.provider.transport(site, journal)
        self.nodes = {node.name: node for node in topology.nodes}
        with phases.timed("render"):
            self.blueprint = blueprint_of(site, topology, stacks)
            self.rendered: Rendered = render(self.blueprint)

    def reserve_ports(self) -> AbstractContextManager[None]:
        """Hold the ports until the daemons listen, where another study could take them."""
        if not self.blueprint.ports.by_service:
            return nullcontext()
        return self.provider.reserve_ports(self.topology, self.blueprint.ports)

    @cached_property
    def endpoints(self) -> Endpoints:
        """Where the daemons are. Only after `create`, which makes the network."""
        network = self.provider.network(self.site, self.journal)
        return dataclasses.replace(self.rendered.endpoints, network=network)

    def create(self) -> None:
        """Nodes, their directories, their files. From its intent on, tear-down finds the build."""
        self.journal.intend(
            "build",
            self.site.tag,
            build=self.site.root.name,
            provider=self.provider.name,
            ports=sorted(self.blueprint.ports.by_service.values()),
        )
        with self.phases.timed("create"):
            self.provider.create(self.site, self.topology, self.journal)
            self.timeout_scale = timeout_scale(self.site.tag, self.journal)
            if self.timeout_scale > 1:  # known only once there are guests
                scaled = dataclasses.replace(self.blueprint, timeout_scale=self.timeout_scale)
                self.blueprint, self.rendered = scaled, render(scaled)
            self._put_files()
        if "network" in self.topology.levels:  # a factor: measured before daemons use it
            with self.phases.timed("network"):
                self.network = prove_network(self.site, self.topology, self.transport, self.journal)

    def start_explained(self, deadline_s: float) -> StartupMonitor:
        """`start`; what the machines know of a failure comes first in its error."""
        try:
            return self.start(deadline_s)
        except BringUpError as error:
            causes = out_of_memory(self.site, self.topology)
            raise dataclasses.replace(error, what="; ".join((*causes, error.what))) from error

    def start(self, deadline_s: float) -> StartupMonitor:
        """Every daemon started and every service ready. `deadline_s`: on real hardware."""
        watch = StartupMonitor(
            self.transport,
            self.nodes,
            self.site.root / "logs",
            deadline_s * self.timeout_scale,
            POLL_S * self.timeout_scale,
        )
        with self.phases.timed("start"):
            self._start_daemons(watch)
        self._await_services(watch)
        return watch

    def cluster(self, watch: StartupMonitor) -> Cluster:
        homes = self.blueprint.homes
        disclosure = disclose(self.blueprint, self.rendered, self.stacks, self.provider)
        disclosure["facts"] = facts_of(self.topology)
        disclosure["emulated"] = {
            **emulated_of(self.site.tag, self.journal),
            **pmem_of(self.topology),
        }
        if found := acceleration(self.site.tag, self.journal):
            disclosure["acceleration"] = found
        limit_s = REQUEST_TIMEOUT_S * self.timeout_scale * 10  # /conf is large
        if self.network:
            disclosure["network"] = self.network
        fetch = partial(fetch_json, timeout_s=limit_s, network=self.endpoints.network)
        if shown := in_effect(self.rendered.daemons, self.topology.variant.configuration, fetch):
            disclosure["in_effect"] = shown
        if chosen := chosen_by(watch.printed("regionserver")):
            disclosure["jvm"] = chosen
        if self.topology.store.hadoop:
            disclosure["native_hadoop"] = not watch.has_logged("datanode", NO_NATIVE)
        return Cluster(
            site=self.site,
            topology=self.topology,
            endpoints=self.endpoints,
            processes=tuple(watch.running),
            hadoop_home=Path(homes.hadoop),
            java_home=Path(homes.java),
            client_java_home=Path(homes.client_java),
            disclosure=disclosure,
        )

    def _put_files(self) -> None:
        conf = Path(self.blueprint.places.conf)
        kept = self.site.root.absolute() / "conf"
        for path, text in self.rendered.files.items():
            atomic.write_text(kept / path, text)  # part of the build's record
            if conf != kept:
                self.transport.put(owner(path, self.topology), text, conf / path)

    def _start_daemons(self, watch: StartupMonitor) -> None:
        """All at once, except those that need the formatted filesystem."""
        prepare = self.rendered.prepare
        if prepare is None:
            self._serve(self.rendered.daemons, watch)
            return
        formatting = self._run(self.transport.start, prepare)
        now = [daemon for daemon in self.rendered.daemons if daemon not in self._later]
        self._serve([daemon for daemon in now if not daemon.starts_after], watch)
        watch.until_ended(formatting, prepare)
        self._serve([daemon for daemon in now if daemon.starts_after], watch)

    @property
    def _later(self) -> list[Daemon]:
        """What waits until HDFS is ready: the daemons of a store that is created there; in emulated guests
        YARN, too. Context switches are expensive there, so starting fewer processes at once brings all of
        them up sooner."""
        late = ("resourcemanager", "nodemanager") if self.timeout_scale > 1 else ()
        init = self.rendered.initialise
        return [
            daemon
            for daemon in self.rendered.daemons
            if daemon.role in late or (init is not None and init.name in daemon.starts_after)
        ]

    def _serve(self, daemons: Sequence[Daemon], watch: StartupMonitor) -> None:
        for daemon in daemons:
            watch.running[self._run(self.transport.serve, daemon)] = daemon

    def _run(
        self, how: Callable[[Node, Command, Path, Path], ProcessId], daemon: Daemon
    ) -> ProcessId:
        node = self.nodes[daemon.node]
        return how(node, daemon.command, Path(daemon.stdout), Path(daemon.stderr))

    def _await_services(self, watch: StartupMonitor) -> None:
        limit_s = REQUEST_TIMEOUT_S * self.timeout_scale
        fetch = partial(fetch_json, timeout_s=limit_s, network=self.endpoints.network)
        pending = store_of(self.topology).readiness(self.topology, self.endpoints, fetch)
        self.phases.start(*dict.fromkeys(service.name for service in pending))
        later = self._later
        while pending:
            watch.check_alive()
            pending = [service for service in pending if not self._ready(service, watch)]
            hdfs_is_ready = "hdfs" not in {service.name for service in pending}
            if later and hdfs_is_ready and self._initialised(watch):
                self._serve(later, watch)
                later = []
            time.sleep(watch.poll_s if pending else 0)

    def _initialised(self, watch: StartupMonitor) -> bool:
        """Whether HDFS has what the store's daemons expect there; the first call begins to create it."""
        init = self.rendered.initialise
        if init is None:
            return True
        if self.initialising is None:
            self.initialising = self._run(self.transport.start, init)
        if self.transport.alive(self.initialising) and not watch.overdue:
            return False
        watch.until_ended(self.initialising, init)
        return True

    def _ready(self, service: Service, watch: StartupMonitor) -> bool:
        seen = service.check()
        if seen.ready:
            self.phases.end(service.name, watch.seconds)
            return True
        if watch.overdue:
            watch.fail_overdue(service.daemon, seen.state)
        self.phases.waits_for(service, seen.state)
        return False


@dataclass
class Phases:
    """Journals the phases as they start and end, and what they wait for."""

    site: Site
    journal: Journal
    ended: list[Phase] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time the block as a phase, which has no end if the block fails."""
        began = time.monotonic()
        self.start(name)
        yield
        self.end(name, time.monotonic() - began)

    def start(self, *names: str) -> None:
        self.journal.record(PhasesStarted(**self._of, names=names))

    def waits_for(self, service: Service, state: str) -> None:
        if self.states.get(service.daemon) != state:
            self.states[service.daemon] = state
            said = f"{service.daemon}: {state}"
            self.journal.record(PhaseState(**self._of, state=said))

    def end(self, name: str, seconds: float) -> None:
        phase = Phase(name, round(seconds, 3))
        self.ended.append(phase)
        self.journal.record(PhaseEnded(**self._of, name=name, seconds=phase.seconds))

    def ready(self, cluster: Cluster) -> Cluster:
        """The cluster with these phases, saved as <site.root>/cluster.json."""
        cluster = dataclasses.replace(cluster, phases=tuple(self.ended))
        atomic.write_text(self.site.root / CLUSTER, cluster_json(cluster) + "\n")
        self.journal.record(BuildReady(**self._of))
        return cluster

    @property
    def _of(self) -> dict[str, str]:
        return {"build": self.site.root.name, "tag": self.site.tag}
