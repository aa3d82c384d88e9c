"""A YCSB load that a test interrupts, and the rows that are left of it."""

from __future__ import annotations

import re
import time
from pathlib import Path

from density_study.cluster.clients.client_commands import java_command, serial
from density_study.cluster.machine.other_users.private_network import connect
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.transport import ProcessId, Transport
from density_study.cluster.stack import classpath, ensure
from density_study.cluster.stack.store_software import CLIENTS
from density_study.workloads.ycsb.properties import MAIN
from density_study.workloads.ycsb.stores.bindings import binding_of
from density_study.workloads.ycsb.stores.store_tool import store_command

HEAP_MIB = 512


def loading(cluster: Cluster, transport: Transport, folder: Path) -> tuple[ProcessId, int]:
    """An endless load by one thread, and the rows of which its last status line says that they were
    acknowledged."""
    binding = binding_of(cluster)
    properties = {
        **binding.properties,
        "workload": "site.ycsb.workloads.CoreWorkload",
        "recordcount": "100000000",
        "fieldcount": "1",
        "status.interval": "1",
    }
    arguments = ["-db", binding.db, "-load", "-s", "-threads", "1"]
    for key, value in properties.items():
        arguments += ["-p", f"{key}={value}"]
    load = java_command(
        cluster, "load", classpath(ensure(CLIENTS)), MAIN, tuple(arguments), serial(HEAP_MIB)
    )
    err = folder / "load.err"
    process = transport.start(cluster.topology.client, load, folder / "load.out", err)
    deadline = time.monotonic() + 60
    while True:
        said = re.findall(r" sec: ([0-9]+) operations;", err.read_text())
        if said and int(said[-1]):
            return process, int(said[-1])
        assert time.monotonic() < deadline and transport.alive(process), err.read_text()
        time.sleep(0.2)


def tool(cluster: Cluster, transport: Transport, folder: Path, *commands: str) -> str:
    """What StoreTool prints."""
    command = store_command(cluster, commands[0], "usertable", *commands)
    out, err = folder / f"{commands[0]}.out", folder / f"{commands[0]}.err"
    done = transport.start(cluster.topology.client, command, out, err)
    assert transport.wait(done, 240) == 0, err.read_text()
    return out.read_text()


def rows_left(cluster: Cluster, transport: Transport, folder: Path) -> int:
    return int(re.findall(r'"rows": ([0-9]+)', tool(cluster, transport, folder, "state"))[0])


def talk(cluster: Cluster, *commands: str) -> list[str]:
    """The first line of each answer of the cluster's Redis server."""
    (address,) = cluster.endpoints.all("store").values()
    host, _, port = address.rpartition(":")
    with (
        connect(cluster.endpoints.network, (host, int(port)), 10) as connection,
        connection.makefile("rwb") as stream,
    ):
        said = []
        for command in commands:
            stream.write(f"{command}\r\n".encode())
            stream.flush()
            said.append(stream.readline().decode().strip())
    return said
