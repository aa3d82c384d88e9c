"""Bring-up of three workers against the raw floor, and the memory of the thirteen idle JVMs.

The floor is the same rendered files and command lines, started at once by a shell loop and ready by
the same test; both are measured alternately in one run, on directories created beforehand for the
floor.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.startup_monitor import POLL_S
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.cluster import Endpoints, Site
from density_study.cluster.model.ports import allocate_ports
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.provider import node_paths, provider_of
from density_study.cluster.providers.stacks import Stacks, ensure_stacks
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.render.daemons import Daemon
from density_study.cluster.render.rendered import Rendered, owner
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import NODE, TAG, tagged
from density_study.cluster.stores.store import render, store_of
from tests.bench.measurement import Measurement, at_most, printed
from tests.bench.memory import pss_mib
from tests.live.support.builds import open_build, topology

WORKERS = 3
JVMS = 13
IDLE_S = 10.0
DEADLINE_S = 180.0
SERVICES = ("hdfs", "yarn", "hbase")


def bench(repeats: int) -> list[Measurement]:
    """OwnedResources and the floor `repeats` times each, in turns."""
    stacks = ensure_stacks()
    ours, floors, idle_gib = [], [], []
    phases: dict[str, list[float]] = {name: [] for name in SERVICES}
    for _ in range(repeats):
        with _build() as (site, journal, layout):
            floors.append(_raw_floor(site, journal, layout, stacks))
        with _build() as (site, journal, layout):
            cluster = bring_up(site, layout, stacks, journal)
            seconds = {phase.name: phase.seconds for phase in cluster.phases}
            idle_gib.append(_idle_gib(site))
        ours.append(seconds["total"])
        for name in SERVICES:
            phases[name].append(seconds[name])
    ratios = [mine / floor for mine, floor in zip(ours, floors, strict=True)]
    return [
        at_most("bring-up, 3 workers", "s", ours, 20),
        *(printed(f"bring-up, {name} ready", "s", phases[name]) for name in SERVICES),
        printed("bring-up, raw floor", "s", floors),
        at_most("bring-up, times the raw floor", "", ratios, 1.2),
        at_most("bring-up, idle memory of 13 JVMs", "GiB", idle_gib, 3e9 / 2**30),
    ]


@contextmanager
def _build() -> Iterator[tuple[Site, Journal, Topology]]:
    with tempfile.TemporaryDirectory(prefix="density-bench-") as folder:
        site, journal = open_build(Path(folder), os.getpid())
        try:
            yield site, journal, topology(Path(folder), WORKERS)
        finally:
            tear_down(site, journal)


def _raw_floor(site: Site, journal: Journal, layout: Topology, stacks: Stacks) -> float:
    """Seconds from the shell's start until all is ready; files and directories exist before."""
    rendered = _prepared(site, journal, layout, stacks)
    script = site.root / "floor.sh"
    script.write_text(_script(site, rendered))
    began = time.monotonic()
    subprocess.run(["sh", str(script)], check=True, stdin=subprocess.DEVNULL)
    _await(layout, rendered.endpoints)
    return time.monotonic() - began


def _prepared(site: Site, journal: Journal, layout: Topology, stacks: Stacks) -> Rendered:
    provider = provider_of(layout)
    ports = allocate_ports(layout)
    places = node_paths(site, layout)
    rendered = render(Blueprint(layout, site.tag, ports, stacks.install_dirs(), places))
    addresses = sorted(ports.by_service.values())
    intent = {
        "act": "build",
        "build": site.root.name,
        "provider": layout.provider.name,
        "ports": addresses,
    }
    journal.write("intent", tag=site.tag, **intent)
    provider.create(site, layout, journal)
    transport = provider.transport(site, journal)
    for path, text in rendered.files.items():
        transport.put(owner(path, layout), text, Path(places.conf) / path)
    return rendered


def _script(site: Site, rendered: Rendered) -> str:
    """Every daemon in the background; the NameNode after its format, in its own shell."""
    lines = []
    for daemon in rendered.daemons:
        line = _line(site, daemon)
        if daemon.starts_after:
            line = f"{_line(site, rendered.prepare)} && {line}"
        lines.append(f"( {line} ) &\n")
    return "".join(lines)


def _line(site: Site, daemon: Daemon) -> str:
    command: Command = daemon.command
    path = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC"}
    env = {**path, NODE: daemon.node, **command.env, TAG: site.tag}
    command_line = shlex.join(["env", "-i", *(f"{k}={v}" for k, v in env.items()), *command.argv])
    streams = f">>{shlex.quote(str(daemon.stdout))} 2>>{shlex.quote(str(daemon.stderr))}"
    return f"cd {shlex.quote(str(command.cwd))} && {command_line} {streams}"


def _await(layout: Topology, endpoints: Endpoints) -> None:
    deadline = time.monotonic() + DEADLINE_S
    pending = store_of(layout).readiness(layout, endpoints)
    while pending:
        pending = [service for service in pending if not service.check().ready]
        if time.monotonic() > deadline:
            raise TimeoutError(f"{', '.join(s.name for s in pending)} never became ready")
        time.sleep(POLL_S if pending else 0)


def _idle_gib(site: Site) -> float:
    time.sleep(IDLE_S)
    # what holds the network of the build belongs to no node
    processes = [one for one in tagged(site.tag) if one.node]
    if len(processes) != JVMS:
        raise RuntimeError(f"{len(processes)} JVMs run, not {JVMS}")
    return sum(pss_mib(process.pid) for process in processes) / 1024
