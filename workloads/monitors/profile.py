"""The device `profile`: CPU and lock profiles of each RegionServer by async-profiler, as JFR recordings.

The profiler is loaded into running JVMs by the attach protocol, so that they need no flag. Its clock is a
timer of each thread (ctimer): the kernel's perf events, which containers and VMs often lack, are not needed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from density_study.cluster.model.transport import Command
from density_study.workloads.base.parsing import ParseError
from density_study.workloads.monitors.devices import HOST, parse_device

EVENTS = "event=ctimer,interval=10ms,lock=1ms"
LIBRARY = "async-profiler.jar.base64"
"""The profiler's jar as text, in the build's folder on every node: transports put texts."""
KINDS = {"cpu": "CPU", "lock": "locks"}
"""Flame graphs of a recording, and what they show."""
_SOURCE = re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+")


def profile_command(
    host: str,
    output: str,
    period_s: float,
    tag: str,
    python: tuple[str, ...],
    *,
    profiler: Mapping[str, str],
) -> Command:
    """Runs our sampler. profiler: path of LIBRARY on each machine."""
    return Command(
        name=f"monitor-profile-{host}",
        argv=(
            *(*python, "-m", "density_study.workloads.monitors.profile_sampler"),
            *("--host", host, "--period", str(period_s), "--output", output, "--tag", tag),
            *("--library", profiler[host]),
        ),
        env={"STUDY_TAG": tag, "STUDY_NODE": "monitor"},
    )


def recording_name(host: str, daemon: str) -> str:
    """File name of a daemon's recording, beside the monitor's own file."""
    return f"{host}.profile.{daemon.replace('/', '.')}.jfr"


def recordings(host: str, text: str) -> Sequence[str]:
    """File names of the recordings that a sampler's file tells of."""
    try:
        rows = parse_device(text, "profile").rows
    except ParseError:
        return ()
    sources = sorted({row.source for row in rows if row.source != HOST})
    return [recording_name(host, source) for source in sources if _SOURCE.fullmatch(source)]
