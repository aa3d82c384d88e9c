"""What else differs between runs: knobs that make a test case incomparable, and in their disclosures the
candidate causes of a change (method 23)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Set
from typing import Any

from density_study.analysis.summary.disclosure import (
    ABSENT,
    DIFFERENCES,
    FACTS,
    declared_changes,
    follows_from,
    leaves,
    shortened,
)
from density_study.analysis.summary.summary import Summary, TestCaseSummary
from density_study.workloads.monitors import RECORDING
from density_study.workloads.study.rules.duet import KEY as DUET
from density_study.workloads.study.study import ALSO, PERIOD

_SHORT, _LONG = 80, 1000
_RUN_PATH = re.compile(r"/\S*?(?=/<own>)")  # a run's folder: a different path is not a cause


def differing(entries: Iterable[TestCaseSummary]) -> tuple[str, ...]:
    """In words, the knobs that a test case id omits and that differ between its entries of several runs.

    An id omits the size of TestDFSIO's files, and YCSB's duration and key distribution. One study file
    cannot have two values for one id, but its runs can. A null in an entry is ignored. Sampling changes
    no number, unless JVMs record themselves.
    """
    values: dict[str, list[str | float]] = {}
    for entry in entries:
        knobs: dict[str, str | float | None] = {
            "file_size_mib": entry.count("file_size_mib"),
            DUET: "none",
            **entry.unnamed_knobs,
            PERIOD: None,
        }
        if (also := knobs.get(ALSO)) is not None:
            recording = set(RECORDING).intersection(str(also).split(", "))
            knobs[ALSO] = ", ".join(sorted(recording)) or "no recording"
        for knob, value in knobs.items():
            if value is not None and value not in values.setdefault(knob, []):
                values[knob].append(value)
    return tuple(
        f"{knob} {', '.join(_shown(value) for value in found)}"
        for knob, found in values.items()
        if len(found) > 1
    )


def _shown(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def declared_differences(before: Summary, after: Summary) -> tuple[str, ...]:
    """'stack.hadoop: 3.4.1 -> 3.4.2': what the studies of the two runs declare differently, on shared
    topologies, and how they sample all of them."""
    shared = [name for name in after.variants if name in before.variants]
    pairs = [(before.variants[name], after.variants[name]) for name in shared]
    sampling = (_sampling(before), _sampling(after))
    if all(sampling):  # that of an earlier version is unknown
        pairs.append(sampling)
    changes = (declared_changes(*pair) for pair in pairs)
    return tuple(dict.fromkeys(change for found in changes for change in found))


def _sampling(summary: Summary) -> dict[str, str]:
    knobs = summary.test_cases[0].unnamed_knobs if summary.test_cases else {}
    return {key: _shown(knobs[key]) for key in (PERIOD, ALSO) if key in knobs}


def candidate_causes(before: Summary, after: Summary) -> tuple[str, ...]:
    """'machine.kernel: Linux 6.1 -> Linux 6.2', one per key, from the first build of each shared topology.

    Without what follows from a declared difference.
    """
    found: dict[str, str] = {}
    for topology in dict.fromkeys(entry.topology for entry in after.test_cases):
        old, new = _build_of(before, topology), _build_of(after, topology)
        if old is None or new is None:
            continue
        declared = {
            change.partition(": ")[0]
            for change in declared_changes(
                before.variants.get(topology, {}), after.variants.get(topology, {})
            )
        }
        first, later = _own(before, old), _own(after, new)
        for key in sorted({*first, *later}):
            values = first.get(key, ABSENT), later.get(key, ABSENT)
            if key.startswith(FACTS) and ABSENT in values:
                continue  # unknown: not read, or by a version that did not look
            if values[0] != values[1] and not _follows(key, declared):
                found.setdefault(key, _change(key, *values))
    return tuple(found.values())


def _follows(key: str, declared: Set[str]) -> bool:
    """Whether a difference between two runs at this key of their disclosures follows from what was declared.

    Other versions lie in other folders, which files and command lines name. A configuration explains its own
    properties in files, and command lines, where it changes the division of memory.
    """
    if declared & {*follows_from(key)}:
        return True
    if not key.startswith(("files.", "daemons.")):
        return False
    if any(name.startswith("stack.") for name in declared):
        return True
    configured = {name for name in declared if name.startswith("configuration.")}
    if key.startswith("daemons."):
        return bool(configured)
    return any(key.endswith(_in_file(name)) for name in configured)


def _in_file(name: str) -> str:
    """configuration.hbase-site.hbase.x -> /hbase-site.xml.hbase.x"""
    _, _, rest = name.partition(".")
    site, _, key = rest.partition(".")
    return f"/{site}.xml.{key}"


def _build_of(summary: Summary, topology: str) -> str | None:
    return next((t.build for t in summary.trials if t.topology == topology), None)


def _own(summary: Summary, build: str) -> dict[str, str]:
    """One build's disclosure, from the common part and the differences."""
    common = {key: value for key, value in summary.disclosure.items() if key != DIFFERENCES}
    own = dict(leaves(common, build, summary.run))
    differing: Mapping[str, Mapping[str, Any]] = summary.disclosure.get(DIFFERENCES, {})
    for key, by_value in differing.items():
        for text, builds in by_value.items():
            if build in builds and text != ABSENT and not key.endswith(".sha256"):
                own.update(leaves({key: text}, build, summary.run))
    return {key: _RUN_PATH.sub("", text) for key, text in own.items()}


def _change(key: str, old: str, new: str) -> str:
    if key.startswith("daemons.") and ABSENT not in (old, new):
        first, later = json.loads(old), json.loads(new)
        old = " ".join(word for word in first if word not in later) or "in another order"
        new = " ".join(word for word in later if word not in first) or "in another order"
    elif key.startswith("files.") and (len(old) > _LONG or len(new) > _LONG):
        return f"{key}: rendered differently"
    return f"{key}: {shortened(old, _SHORT)} -> {shortened(new, _SHORT)}"
