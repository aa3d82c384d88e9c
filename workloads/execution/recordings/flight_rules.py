"""JDK Mission Control's rules, applied to recordings of Flight Recorder."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from xml.etree.ElementTree import ParseError

from density_study.cluster.stack import ensure
from density_study.cluster.stack.java import find_java
from density_study.workloads.monitors.daemons.events import event_row
from density_study.workloads.monitors.daemons.flight import found_in

STACK = "flightrules"
REPORT = "org.openjdk.jmc.flightrecorder.rules.report.JfrRulesReport"
TIMEOUT_S = 300.0


def findings(recordings: Mapping[Path, str], report: Path, epoch_s: float) -> str:
    """Rows of what the rules find in the recordings of JVMs, by name; `report` has all that they say. None
    of a recording that cannot be read, as of a daemon that was killed: the report says so."""
    java, jars = find_java().home / "bin" / "java", ensure(STACK).home / "lib" / "*"
    command = (str(java), "-Xmx1g", "-cp", str(jars), REPORT, *map(str, recordings))
    with report.open("wb") as output, suppress(subprocess.TimeoutExpired):
        subprocess.run(
            command, stdout=output, stderr=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False
        )
    try:
        found = list(found_in(report.read_text(encoding="utf-8", errors="replace")))
    except (ParseError, ValueError):
        return ""
    return "".join(
        event_row(epoch_s, recordings[Path(file)], f"{score:.0f},{words}")
        for file, score, words in found
        if Path(file) in recordings
    )
