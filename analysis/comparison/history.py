"""The earlier runs of a study, from their summaries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from math import log, sqrt
from pathlib import Path
from shlex import quote
from statistics import mean
from typing import Any

import numpy as np

from density_study.analysis.comparison.compare import RunComparison
from density_study.analysis.findings.decide import MEASURED, OUTLYING, REFUSED
from density_study.analysis.findings.variants import rate_points
from density_study.analysis.summary.summary import FORMAT, Hindrance, Summary, TestCaseSummary
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.old_names import present, present_key, present_topologies
from density_study.cluster.state.journal import run_folders
from density_study.cluster.state.plain_file import read_below, why_unread
from density_study.workloads.study.registry import kind_of, kinds

SUMMARY, COMPARISON = "report/summary.json", "report/comparison.json"
MOST_BYTES = 2**28
MOST_LETTERS = 2**16
"""For one text: pages and answers show many."""
EXISTING = ("existing", "endpoint")
OLD_NAMES = 3
"""A summary of this format has the same content under old names."""


def read_summary(root: Path) -> Summary:
    """The summary of an analysed run. InputError if it has none, one of another version, or one of a
    rehearsal."""
    summary = read_summary_file(root / SUMMARY, str(root))
    summary.check_measured(str(root))
    return summary


def read_summary_file(path: Path, run: str = "RUN") -> Summary:
    """The summary of a file, which may be of a rehearsal. run: what the remedy names."""
    remedy = f"analyse the records with this version: study report {quote(run)}"
    try:
        name = f"{path.parent.name}/{path.name}"
        value = json.loads(read_below(path.parent.parent, name, MOST_BYTES))
        if _longest(value) > MOST_LETTERS:
            raise ValueError(f"a text in it has more than {MOST_LETTERS:,} letters")
        if value.get("format") in (FORMAT, OLD_NAMES):
            if value["format"] == OLD_NAMES:
                value = _renamed(value)
            if value.get("provider") in EXISTING:
                value = present_topologies(value)
            for finding in value.get("findings", ()):
                finding.setdefault("hindrance", _hindrance(finding["why"]))
            return Summary.model_validate(value)
    except FileNotFoundError as error:
        raise InputError(
            "the run has no summary: it was not analysed.", str(path), remedy
        ) from error
    except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError) as error:
        what = f"the summary cannot be read: {why_unread(error)}."
        raise InputError(what, str(path), remedy) from error
    raise InputError(
        f"summary.json has format {value.get('format')!r}; this version reads format {FORMAT}.",
        str(path),
        remedy,
    )


def _hindrance(why: str) -> Hindrance:
    """Earlier versions wrote only the reason of a verdict."""
    if REFUSED in why:
        return "incomparable"
    return "none" if why.partition(OUTLYING)[0] == MEASURED else "unknown"


def read_comparison(root: Path) -> RunComparison | None:
    """How the run compared with earlier ones; None if it did not. InputError if it cannot be read."""
    try:
        value = json.loads(read_below(root, COMPARISON, MOST_BYTES))
        return RunComparison.model_validate(present(value, RunComparison))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"its comparison with earlier runs cannot be read: {why_unread(error)}.",
            str(root / COMPARISON),
            f"delete the file, and compare the run again: study compare {quote(str(root))}",
        ) from error


def _longest(value: Any) -> int:
    """Letters of the longest text in a JSON document."""
    if isinstance(value, str):
        return len(value)
    inner = chain(value, value.values()) if isinstance(value, dict) else value
    return max(map(_longest, inner), default=0) if isinstance(value, dict | list) else 0


def _renamed(value: dict[str, Any]) -> dict[str, Any]:
    """A summary with old names, in which parameters of all workloads stood beside each other."""
    every = {name for kind in kinds().values() for name in kind.parameters}
    found = present(value, Summary)
    found["variants"] = {
        name: {present_key(key, ("disk_type",)): said for key, said in declared.items()}
        for name, declared in found.get("variants", {}).items()
    }
    for entry in found["test_cases"]:
        own = kind_of(entry["workload"]).parameters
        parameters = {name: entry.pop(name) for name in every & entry.keys()}
        entry["parameters"] = {name: parameters[name] for name in own if name in parameters}
    return {**found, "format": FORMAT}


def earlier(root: Path) -> tuple[Summary, ...]:
    """Summaries of the same study's earlier runs, oldest first. Runs without a summary of this
    version are skipped."""
    root = root.absolute()
    folders = run_folders(root.parent.parent, root.parent.name)
    return tuple(summaries(one for one in folders if one.name < root.name))


def newest(folders: Iterable[Path], count: int) -> tuple[Summary, ...]:
    """The first `count` analysed runs of `folders`, in which the newest comes first, oldest first. Reads no
    more than these."""
    return tuple(islice(summaries(folders), count))[::-1]


def summaries(roots: Iterable[Path]) -> Iterator[Summary]:
    """The summaries of the runs that have one of this version."""
    for root in roots:
        try:
            found = read_summary(root)
        except (StudyError, ValueError):
            continue
        yield found


def seen_spread(summaries: Sequence[Summary]) -> float | None:
    """Pooled standard deviation of the logarithms of rates between builds of a topology, within runs;
    None if no run has two builds of a topology."""
    # s = sqrt(sum of squares / sum of (n - 1)), within runs: what changed between them is not noise
    squares, freedom = 0.0, 0
    for summary in summaries:
        for entry in summary.test_cases:
            points = rate_points(entry)
            if len(points) < 2 or min(points) <= 0:
                continue
            logs = [log(point) for point in points]
            middle = mean(logs)
            squares += sum((one - middle) ** 2 for one in logs)
            freedom += len(logs) - 1
    return sqrt(squares / freedom) if freedom else None


def spread_within_repetitions(summaries: Sequence[Summary]) -> float | None:
    """As `seen_spread`, without the variation that all topologies of a repetition share: the noise of a
    comparison that is paired by repetition. None if no run has two repetitions of two topologies."""
    squares, freedom = 0.0, 0
    for summary in summaries:
        for _, variants in groupby(sorted(summary.test_cases, key=_test_case), key=_test_case):
            every = [rate_points(entry) for entry in variants]
            whole = [one for one in every if len(one) == summary.repetitions and min(one) > 0]
            if len(whole) < 2 or summary.repetitions < 2:
                continue
            # residuals of a two-way layout: topologies and repetitions
            logs = np.log(whole)
            left = logs - logs.mean(0) - logs.mean(1, keepdims=True) + logs.mean()
            squares += float((left**2).sum())
            freedom += (len(whole) - 1) * (summary.repetitions - 1)
    return sqrt(squares / freedom) if freedom else None


def _test_case(entry: TestCaseSummary) -> str:
    return entry.test_case
