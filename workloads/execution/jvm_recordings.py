"""What is made here of recordings that JVMs left on the machines: flame graphs by async-profiler, and
findings of JDK Mission Control's rules."""

from __future__ import annotations

import base64
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree.ElementTree import ParseError

from density_study.cluster.model.cluster import Site
from density_study.cluster.providers.provider import Machine
from density_study.cluster.stack import ensure
from density_study.cluster.stack.java import find_java
from density_study.cluster.state import atomic
from density_study.workloads.monitors.daemons.events import event_row
from density_study.workloads.monitors.daemons.flight import found_in
from density_study.workloads.monitors.daemons.profile import KINDS, LIBRARY

CONVERTER = "one.convert.Main"
_RULES = "flightrules"
_REPORT = "org.openjdk.jmc.flightrecorder.rules.report.JfrRulesReport"
RULES_TIMEOUT_S = 300.0
TIMEOUT_S = 120.0
_NAMES = re.compile(r"(.*?\nconst cpool = \[\n)(.*)(\n\];\nunpack\(cpool\);\n.*)", re.DOTALL)
_OWN_LINE_END = re.compile(r"\n(?!')")  # a quote follows what parts names; their own is escaped


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
    for kind in KINDS:
        page = recording.with_suffix(f".{kind}.html")
        if _converted(f"--{kind}", str(recording), str(page)):
            yield page


def difference(first: Sequence[Path], later: Sequence[Path], page: Path) -> bool:
    """Write the flame graph of the later recordings' CPU time, coloured by how its shares differ from those
    of the first ones. False if they cannot be read."""
    with TemporaryDirectory() as folder:
        merged = [Path(folder) / f"{name}.collapsed" for name in ("first", "later")]
        for recordings, one in zip((first, later), merged, strict=True):
            if not _converted("--cpu", "-o", "collapsed", *map(str, recordings), str(one)):
                return False
        return _converted("--diff", *map(str, merged), str(page))


def _converted(*words: str) -> bool:
    """Whether the converter has written its last argument."""
    java = str(find_java().home / "bin" / "java")
    command = (java, "-Xmx512m", "-cp", str(profiler_jar()), CONVERTER, *words)
    done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=False)
    made = Path(words[-1])
    if done.returncode != 0 or not made.is_file():
        return False
    return made.suffix != ".html" or _inert(made)


def _inert(page: Path) -> bool:
    """Names of classes stand in the page's script, and the converter escapes only quotes and backslashes.
    False, and no page, if they are not where they are expected."""
    found = _NAMES.fullmatch(page.read_bytes().decode("utf-8", "replace"))
    if found is None:
        page.unlink()
        return False
    names = _OWN_LINE_END.sub(r"\\n", found[2].replace("<", r"\x3c").replace("\r", r"\r"))
    atomic.write_text(page, f"{found[1]}{names}{found[3]}")
    return True


def findings(recordings: Mapping[Path, str], report: Path, epoch_s: float) -> str:
    """Rows of what the rules find in the recordings of JVMs, by name; `report` has all that they say. None
    of a recording that cannot be read, as of a daemon that was killed: the report says so."""
    java, jars = find_java().home / "bin" / "java", ensure(_RULES).home / "lib" / "*"
    command = (str(java), "-Xmx1g", "-cp", str(jars), _REPORT, *map(str, recordings))
    with report.open("wb") as output, suppress(subprocess.TimeoutExpired):
        subprocess.run(
            command, stdout=output, stderr=subprocess.DEVNULL, timeout=RULES_TIMEOUT_S, check=False
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
