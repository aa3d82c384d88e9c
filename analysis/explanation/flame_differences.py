"""Differential flame graphs: where a variant's JVMs spend another share of their CPU time than those of the
variant that it is compared with. The recordings of all its trials count together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from density_study.analysis.summary.summary import FlameGraph, Summary
from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.own_runs import refusal
from density_study.cluster.state.tags import short_hash
from density_study.workloads.execution.jvm_recordings import difference
from density_study.workloads.record.manifest import Manifest

FOLDER = "flames"
"""The folder of the pages, beside the report."""
MOST = 24  # pages of a report: each takes seconds
_RECORDING = re.compile(r"monitor/[\w.-]+?\.profile\.[\w-]+\.([a-z]+)(?:-\d+)?\.jfr")
Recordings = Mapping[tuple[str, str], Mapping[str, Sequence[Path]]]


def flame_differences(
    run_root: Path, manifests: Sequence[Manifest], summary: Summary
) -> Iterator[FlameGraph]:
    """Yields a page for each pair of variants, test case and kind of JVM, as an entry of the later variant's
    first trial.

    Only this user's own runs have some: a program reads the recordings, and the page shows what they say.
    """
    if not any(_found(manifest) for manifest in manifests) or refusal(run_root):
        return
    known = _by_variant(run_root, manifests, summary)
    made = 0
    for one in summary.explanations:
        first, later = (known.get((one.test_case, name), {}) for name in (one.first, one.later))
        for kind in sorted(first.keys() & later.keys()):
            name = short_hash("/".join((one.test_case, one.first, one.later, kind)))
            page = run_root / "report" / FOLDER / f"{name}.html"
            if made < MOST and _drawn(first[kind], later[kind], page):
                made += 1
                yield FlameGraph(
                    trial=later[kind][0].parents[1].name,
                    source=f"each {kind}, compared with {one.first}",
                    kind="cpu",
                    file=f"{FOLDER}/{page.name}",
                )


def _found(manifest: Manifest) -> list[tuple[str, str]]:
    """Kind of JVM and file of each recording."""
    names = [name for monitor in manifest.monitors for name in monitor.files]
    found = filter(None, map(_RECORDING.fullmatch, () if manifest.imported else names))
    return [(match[1], match[0]) for match in found]


def _by_variant(run_root: Path, manifests: Sequence[Manifest], summary: Summary) -> Recordings:
    about = {one.trial: (one.test_case, one.topology) for one in summary.trials if one.counted}
    found: dict[tuple[str, str], dict[str, list[Path]]] = {}
    for manifest in manifests:
        if key := about.get(manifest.trial):
            for kind, name in _found(manifest):
                path = run_root / "records" / manifest.trial / name
                found.setdefault(key, {}).setdefault(kind, []).append(path)
    return found


def _drawn(first: Sequence[Path], later: Sequence[Path], page: Path) -> bool:
    page.parent.mkdir(parents=True, exist_ok=True)
    try:
        return difference(first, later, page)
    except StudyError:  # the converter is not here, and cannot be fetched
        return False
