"""The device `profile`: CPU and lock profiles of each daemon and client by async-profiler, as JFR recordings.

The profiler is loaded into running JVMs by the attach protocol, so that they need no flag. Its clock is a
timer of each thread (ctimer): the kernel's perf events, which containers and VMs often lack, are not needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.monitors.devices import HOST, parse_device

NAME = "profile"
EVENTS = "event=ctimer,interval=10ms,lock=1ms"
LIBRARY = "async-profiler.jar.base64"
"""The profiler's jar as text, in the build's folder on every node: transports put texts."""
KINDS = {"cpu": "CPU", "lock": "locks"}
"""Flame graphs of a recording, and what they show."""
_SOURCE = re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+")


def recording_name(device: str, host: str, jvm: str) -> str:
    """File name of a JVM's recording, beside the monitor's own file."""
    return f"{host}.{device}.{jvm.replace('/', '.')}.jfr"


def recorded(text: str) -> Sequence[str]:
    """The JVMs that a sampler's file tells of."""
    try:
        rows = parse_device(text, NAME).rows
    except ParseError:
        return ()
    sources = sorted({row.source for row in rows if row.source != HOST})
    return [source for source in sources if _SOURCE.fullmatch(source)]
