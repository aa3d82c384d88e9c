"""async-profiler on the nodes of a trial, and flame graphs of its recordings."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from density_study.cluster.model.cluster import Site
from density_study.cluster.providers.provider import Machine
from density_study.cluster.stack import ensure
from density_study.cluster.stack.java import find_java
from density_study.workloads.monitors.profile import KINDS, LIBRARY

CONVERTER = "one.convert.Main"
TIMEOUT_S = 120.0


def profiler_jar() -> Path:
    """The profiler, from the cache or Maven Central. InputError if there is neither."""
    return next((ensure("profiler").home / "lib").iterdir())


def put_profiler(site: Site, machines: Sequence[Machine]) -> dict[str, str]:
    """Put it on each machine, below the build's folder there; returns its path by machine."""
    text = base64.b64encode(profiler_jar().read_bytes()).decode()
    path = site.root / "profiler" / LIBRARY
    found = {}
    for machine in machines:
        machine.transport.put(machine.node, text, path)
        found[machine.name] = str(machine.transport.at(machine.node, path))
    return found


def flame_graphs(recording: Path) -> Iterator[Path]:
    """Write a flame graph of each kind beside the recording. A recording that cannot be read, as of a daemon
    that was killed, has none."""
    command = (
        str(find_java().home / "bin" / "java"),
        "-Xmx512m",
        "-cp",
        str(profiler_jar()),
        CONVERTER,
    )
    for kind in KINDS:
        page = recording.with_suffix(f".{kind}.html")
        done = subprocess.run(
            [*command, f"--{kind}", str(recording), str(page)],
            capture_output=True, timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
        if done.returncode == 0 and page.is_file():
            yield page
