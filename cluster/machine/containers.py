"""Containers of this machine: made by runc, each in a network namespace on a bridge, and removed by name.

Standard library only: it runs on hosts. Every program carries the build's tag, so that reap finds one whose
caller was killed.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from density_study.cluster.machine import cgroups, network_link
from density_study.cluster.machine.describe import read_cpus
from density_study.cluster.model.errors import StudyError, do_all
from density_study.cluster.model.network import network_of
from density_study.cluster.state import atomic
from density_study.cluster.state.tags import TAG, short_hash, start_ticks

RUNC = Path("/run/runc")
"""runc's folder of a root user: a container has a folder there before it has anything else."""
NETNS = Path("/run/netns")
ROOTFS = "rootfs"
DEVICE = "eth0"
"""The container's end of its veth pair."""
_TIMEOUT_S = 60.0
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_OUTPUT = "runc.out"
_GONE_WITHIN_S = 5.0
_REACH = """\
import socket, sys
for address in sys.argv[1:]:
    try:
        socket.create_connection((address, 9), 5.0).close()
    except ConnectionRefusedError:
        pass
    except OSError:
        print(address)
"""
"""Prints the addresses that do not answer; a refusal is an answer."""


def facts(paths: Sequence[str]) -> dict[str, Any]:
    """What bundles depend on: the cgroups, the CPUs that may be used, the devices of disks."""
    return {
        "runc": run(["runc", "--version"], "").stdout.partition("\n")[0],
        "cgroup_version": cgroups.version(),
        "cpus": [{"number": node.number, "cores": node.cores} for node in read_cpus()],
        "devices": {path: Path(path).stat().st_dev for path in paths},
    }


def make_bridge(tag: str, name: str, address: str) -> None:
    """`address` is this machine's, with the length of the prefix."""
    _ip(
        tag, f"link add {name} type bridge", f"addr add {address} dev {name}", f"link set {name} up"
    )


def add_route(tag: str, network: str, via: str) -> None:
    """Add a route to the containers of another machine. A route has no name: its metric shows to which build
    it belongs."""
    _ip(tag, f"route add {network} via {via} metric {metric_of(tag)}")


def metric_of(tag: str) -> int:
    """The metric of a build's routes: 28 bits of its tag's hash. It decides about nothing, as no other route
    leads to these networks."""
    return int(short_hash(tag)[:7], 16) + 1


def make_network(
    tag: str, name: str, link: str, bridge: str, address: str, gateway: str, queues: int
) -> None:
    """A network namespace with the container's name, connected to the bridge. `gateway` may be empty, and
    `queues` 0: as many as Linux makes."""
    _ip(tag, f"netns add {name}")
    several = f"numrxqueues {queues} numtxqueues {queues} " if queues else ""
    _ip(
        tag,
        f"link add {link} {several}type veth peer name {DEVICE} {several}netns {name}",
        f"link set {link} master {bridge} up",
    )
    _ip(
        tag,
        f"addr add {address} dev {DEVICE}",
        "link set lo up",
        f"link set {DEVICE} up",
        *([f"route add default via {gateway}"] if gateway else []),
        netns=name,
    )


def shape(
    tag: str, name: str, link: str, settings: Mapping[str, Any], python: Sequence[str]
) -> None:
    """Both ends of its veth pair: the rate is a limit in both directions; loss, delay and the choice of a
    queue are of what it sends. All of it goes with the pair. `python`: a command that imports this code."""
    outside = replace(network_of(settings), delay_ms=None, loss_percent=None, xps=()).declared()
    network_link.apply(link, outside)
    module = (*python, "-m", network_link.__name__, DEVICE, json.dumps(settings))
    done = run(["ip", "netns", "exec", name, *module], tag)
    if done.returncode != 0:
        raise StudyError(
            f"its network cannot be changed: {' '.join(done.stderr.split())[-300:]}",
            f"container {name}",
            "run `study doctor SPEC`, which tries each setting on each host.",
        )


def start(tag: str, name: str, bundle: str, files: Mapping[str, str]) -> list[int]:
    """[pid, start in ticks] of the container's process. `files` of its bundle, by name."""
    folder = Path(bundle)
    (folder / ROOTFS).mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        atomic.write_text(folder / file, text)
    pid_file = folder / "pid"
    argv = ["runc", "run", "--detach", "--bundle", bundle, "--pid-file", str(pid_file), name]
    # To a file: the container's process inherits its output, and would hold a pipe open.
    with (folder / _OUTPUT).open("wb") as output:
        code = run(argv, tag, output=output.fileno()).returncode
    if code != 0:
        said = (folder / _OUTPUT).read_text(errors="replace").strip()
        raise StudyError(
            f"runc cannot start it: {' '.join(said.split())[-400:]}",
            f"container {name}",
            "run `study doctor SPEC`, which checks what containers need of each host.",
        )
    pid = int(pid_file.read_text())
    return [pid, start_ticks(pid) or 0]


def spent(names: Sequence[str]) -> dict[str, dict[str, float]]:
    return {name: cgroups.spent(name) for name in names}


def unreached(name: str, addresses: Sequence[str]) -> list[str]:
    """The addresses that do not answer to the container, or, without a name, to this machine."""
    inside = ["ip", "netns", "exec", name] if name else []
    return _output([*inside, sys.executable, "-c", _REACH, *addresses]).split()


def find(
    tag: str, names: Sequence[str], links: Sequence[str], routes: Sequence[Sequence[str]]
) -> dict[str, list[str]]:
    """What exists of these containers, interfaces and routes (network, via) of the build, by kind. Changes
    nothing. StudyError for names that a build with this tag does not give."""
    return {**_found(tag, names, links), "route": _leading(tag, routes)}


def _found(tag: str, names: Sequence[str], links: Sequence[str]) -> dict[str, list[str]]:
    _require_own(tag, names, links)
    return {
        "container": [name for name in names if (RUNC / name).exists()],
        "cgroup": [name for name in names if cgroups.groups(name)],
        # a file that is no longer mounted also counts
        "network namespace": [name for name in names if (NETNS / name).exists()],
        "network interface": [name for name in links if _is_there(name)],
    }


def _leading(tag: str, routes: Sequence[Sequence[str]]) -> list[str]:
    return [f"{network} via {via}" for network, via in routes if _leads(tag, network, via)]


def remove(
    tag: str, names: Sequence[str], links: Sequence[str], routes: Sequence[Sequence[str]]
) -> dict[str, list[str]]:
    """Remove them in the order of dependency; returns what there was. `find` tells what is left."""
    ours = _found(tag, names, links)

    def remove_routes() -> None:
        ours["route"] = _leading(tag, routes)
        for route in ours["route"]:
            run(["ip", "route", "delete", *route.split(), "metric", str(metric_of(tag))], tag)

    do_all(
        *(partial(run, ["runc", "delete", "--force", name], tag) for name in ours["container"]),
        *(partial(_remove_groups, name) for name in ours["cgroup"]),
        *(partial(run, ["ip", "netns", "delete", name], tag) for name in ours["network namespace"]),
        # a pair may be gone already
        *(partial(run, ["ip", "link", "delete", name], tag) for name in ours["network interface"]),
        remove_routes,
    )
    return ours


def run(
    argv: Sequence[str], tag: str, stdin: str = "", output: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program with the tag. StudyError if it does not end."""
    try:
        return subprocess.run(
            argv,
            input=stdin,
            stdout=subprocess.PIPE if output is None else output,
            stderr=subprocess.PIPE if output is None else output,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            env={"PATH": _PATH, "HOME": os.environ.get("HOME", "/"), TAG: tag},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise StudyError(
            f"it did not end within {_TIMEOUT_S:.0f} s.",
            " ".join(argv),
            "see whether that machine's kernel or a disk of it hangs (dmesg), then run `study reap`.",
        ) from error


def _output(argv: Sequence[str]) -> str:
    """StudyError if the program fails: nothing printed would mean that there is nothing."""
    done = run(argv, "")
    if done.returncode:
        said = " ".join(done.stderr.split())[-300:]
        raise StudyError(f"it failed: {said}.", " ".join(argv[:5]), "run it on that machine.")
    return done.stdout


def _ip(tag: str, *commands: str, netns: str = "") -> None:
    inside = ["-netns", netns] if netns else []
    done = run(["ip", *inside, "-batch", "-"], tag, "\n".join(commands) + "\n")
    if done.returncode != 0:
        raise StudyError(
            f"ip {commands[0]}: {' '.join(done.stderr.split())}",
            "the containers' network",
            "choose another `containers.network`, or run `study reap` if an earlier run was killed.",
        )


def _is_there(link: str) -> bool:
    try:
        socket.if_nametoindex(link)
    except OSError:
        return False
    return True


def _leads(tag: str, network: str, via: str) -> bool:
    shown = _output(["ip", "-json", "route", "show", "exact", network, "via", via])
    return any(route.get("metric") == metric_of(tag) for route in json.loads(shown or "[]"))


def _require_own(tag: str, names: Sequence[str], links: Sequence[str]) -> None:
    mark = short_hash(tag)
    for name in names:
        if not re.fullmatch(rf"study-{mark}-[A-Za-z0-9_.-]+", name):
            raise _foreign(tag, name)
    for link in links:
        if not re.fullmatch(r"d[sv][0-9a-f]{12}", link):
            raise _foreign(tag, link)


def _foreign(tag: str, name: str) -> StudyError:
    return StudyError(
        f"{name!r} is not the name of anything that it makes.",
        f"build {tag}",
        "somebody changed the run's journal: restore it, or remove what it names by hand (`runc list`).",
    )


def _remove_groups(name: str) -> None:
    """The kernel keeps a cgroup until its last process is gone, for a moment."""
    deadline = time.monotonic() + _GONE_WITHIN_S
    while (left := cgroups.groups(name)) and time.monotonic() < deadline:
        for path in left:
            try:
                path.rmdir()
            except OSError:
                time.sleep(0.02)
