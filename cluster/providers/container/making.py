"""Making a build's containers on one host: bridge, network namespaces, containers. Each act is journalled
before."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.host import ContainerHost
from density_study.cluster.model.network import UNCHANGED, Network
from density_study.cluster.providers.container.bundle import HOSTS_FILE, config
from density_study.cluster.providers.container.container import Container
from density_study.cluster.providers.container.names import bridge_name
from density_study.cluster.state.events import ContainerUp
from density_study.cluster.state.journal import Journal

Act = Callable[..., Any]
"""Runs one of `cluster.machine.host_commands` on a host, by its name."""


@dataclass(frozen=True)
class Maker:
    """`host` is empty for this machine. `facts`: the host's, by `container-facts`. `python`: a command line
    that can import this program there."""

    site: Site
    journal: Journal
    act: Act
    facts: Mapping[str, Any]
    python: tuple[str, ...]
    setting: Network = UNCHANGED
    host: str = ""

    def make(
        self,
        containers: Sequence[Container],
        plan: ContainerHost,
        names: Mapping[str, str],
        routes: Mapping[str, str] | None = None,
    ) -> None:
        """The host's containers, running, on a bridge of the build's own. `names` of all nodes by address;
        `routes` to the containers of other hosts: network -> address of its host."""
        name, prefix_length = bridge_name(self.site.tag), containers[0].prefix_length
        self._intend("make-bridge", path=name)
        self.act("make-bridge", self.site.tag, name, f"{plan.host_address}/{prefix_length}")
        for network, via in (routes or {}).items():
            self.route(network, via)
        if self.setting.rfs:  # containers share the machine's table of flows
            self._intend("set-flow-table", former=self.act("flow-table"))
        listed = {plan.host_address: "host", **names}
        lines = ["127.0.0.1 localhost", *(f"{address} {name}" for address, name in listed.items())]
        for container in containers:
            self.network(container, plan.host_address if routes is not None else "")
            self.container(container, "\n".join(lines) + "\n")

    def route(self, network: str, via: str) -> None:
        self._intend("make-route", path=network, via=via)
        self.act("add-route", self.site.tag, network, via)

    def network(self, container: Container, gateway: str) -> None:
        node, bridge = container.node, bridge_name(self.site.tag)
        self._intend("make-netns", node=node.name, path=container.id)
        address = f"{node.address}/{container.prefix_length}"
        ends, queues = (container.id, container.link), self.setting.queues or 0
        tag = self.site.tag
        self.act("make-container-network", tag, *ends, bridge, address, gateway, queues)
        if settings := self.setting.declared():
            self.act("shape-container", tag, *ends, settings, list(self.python))

    def container(self, container: Container, hosts_file: str) -> None:
        node = container.node
        facts = self.facts["cgroup_version"], self.facts["devices"]
        text = json.dumps(config(container, *facts), indent=2)
        files = {"config.json": text + "\n", HOSTS_FILE: hosts_file}
        self._intend("make-container", node=node.name, path=container.id)
        pid, ticks = self.act(
            "start-container", self.site.tag, container.id, str(container.bundle), files
        )
        up = ContainerUp(tag=self.site.tag, node=node.name, pid=pid, start_ticks=ticks)
        self.journal.record(up)

    def _intend(self, act: str, **fields: Any) -> None:
        self.journal.intend(act, self.site.tag, host=self.host, **fields)
