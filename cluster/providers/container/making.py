"""Making a build's containers: bridge, network namespaces, containers. Each act is journalled before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from density_study.cluster.machine import network_link
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.host import ContainerHost
from density_study.cluster.model.network import UNCHANGED, Network
from density_study.cluster.providers.container.bundle import HOSTS_FILE, ROOTFS, config
from density_study.cluster.providers.container.cgroups import version
from density_study.cluster.providers.container.container import Container
from density_study.cluster.providers.container.names import bridge_name
from density_study.cluster.state import atomic
from density_study.cluster.state.events import ContainerUp
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import TAG, start_ticks

TIMEOUT_S = 60.0
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
OUTPUT = "runc.out"
DEVICE = "eth0"
"""The container's end of its cable."""


@dataclass(frozen=True)
class Maker:
    site: Site
    journal: Journal
    setting: Network = UNCHANGED

    def make(self, containers: Sequence[Container], plan: ContainerHost) -> None:
        """All containers of the build, running, each with its address on the build's own bridge."""
        names = {
            plan.host_address: "host",
            **{one.node.address: one.node.name for one in containers},
        }
        lines = ["127.0.0.1 localhost", *(f"{address} {name}" for address, name in names.items())]
        hosts_file = containers[0].bundle.parent / HOSTS_FILE
        atomic.write_text(hosts_file, "\n".join(lines) + "\n")
        self.bridge(f"{plan.host_address}/{containers[0].prefix_length}")
        for container in containers:
            self.network(container)
            self.container(container)

    def bridge(self, address: str) -> None:
        name = bridge_name(self.site.tag)
        self.journal.intend("make-bridge", self.site.tag, path=name)
        self._ip(
            f"link add {name} type bridge", f"addr add {address} dev {name}", f"link set {name} up"
        )

    def network(self, container: Container) -> None:
        """A network namespace with the container's name, connected to the bridge."""
        node = container.node
        self.journal.intend("make-netns", self.site.tag, node=node.name, path=container.id)
        self._ip(f"netns add {container.id}")
        bridge, link = bridge_name(self.site.tag), container.link
        count = self.setting.queues
        queues = f"numrxqueues {count} numtxqueues {count} " if count else ""
        self._ip(
            f"link add {link} {queues}type veth peer name {DEVICE} {queues}netns {container.id}",
            f"link set {link} master {bridge} up",
        )
        self._ip(
            f"addr add {node.address}/{container.prefix_length} dev {DEVICE}",
            "link set lo up",
            f"link set {DEVICE} up",
            netns=container.id,
        )
        self.shape(container)

    def shape(self, container: Container) -> None:
        """Both ends of its cable: the rate is a limit in both directions; what is lost or late is what it
        sends. All of it goes with the cable."""
        inside = self.setting.declared()
        if not inside:
            return
        outside = replace(self.setting, delay_ms=None, loss_percent=None).declared()
        network_link.apply(container.link, outside)
        module = (sys.executable, "-m", network_link.__name__, DEVICE, json.dumps(inside))
        done = run(["ip", "netns", "exec", container.id, *module], self.site.tag)
        if done.returncode != 0:
            raise StudyError(
                f"its network cannot be changed: {' '.join(done.stderr.split())[-300:]}",
                f"container of node {container.node.name!r}",
                "see docs/how-to/compare-networks.md for what it needs.",
            )

    def container(self, container: Container) -> None:
        node, bundle = container.node, container.bundle
        (bundle / ROOTFS).mkdir(parents=True, exist_ok=True)
        limited = node.disk if container.limits else None
        device = Path(limited.path).stat().st_dev if limited else None
        text = json.dumps(config(container, version(), device), indent=2)
        atomic.write_text(bundle / "config.json", text + "\n")
        self.journal.intend("make-container", self.site.tag, node=node.name, path=container.id)
        pid_file = bundle / "pid"
        argv = ["runc", "run", "--detach", "--bundle", str(bundle), "--pid-file", str(pid_file)]
        # To a file: the container's process inherits its output, and would hold a pipe open.
        with (bundle / OUTPUT).open("wb") as output:
            code = run([*argv, container.id], self.site.tag, output=output.fileno())
        if code.returncode != 0:
            said = (bundle / OUTPUT).read_text(errors="replace").strip()
            raise StudyError(
                f"runc cannot start it: {' '.join(said.split())[-400:]}",
                f"container of node {node.name!r}",
                "see docs/providers.md for what containers need of this machine.",
            )
        pid = int(pid_file.read_text())
        ticks = start_ticks(pid) or 0
        up = ContainerUp(tag=self.site.tag, node=node.name, pid=pid, start_ticks=ticks)
        self.journal.record(up)

    def _ip(self, *commands: str, netns: str = "") -> None:
        inside = ["-netns", netns] if netns else []
        done = run(["ip", *inside, "-batch", "-"], self.site.tag, "\n".join(commands) + "\n")
        if done.returncode != 0:
            raise StudyError(
                f"ip {commands[0]}: {' '.join(done.stderr.split())}",
                "the containers' network",
                "choose another `containers.network`, or run `study reap` if an earlier run was killed.",
            )


def run(
    argv: Sequence[str], tag: str, stdin: str = "", output: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program that carries the tag, so that reap finds it should this process be killed."""
    return subprocess.run(
        argv,
        input=stdin,
        stdout=subprocess.PIPE if output is None else output,
        stderr=subprocess.PIPE if output is None else output,
        text=True,
        timeout=TIMEOUT_S,
        env={"PATH": PATH, "HOME": os.environ.get("HOME", "/"), TAG: tag},
        check=False,
    )
