"""The registry: which reader takes which file. Signatures and names are in workloads/imports/foreign.toml."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path

from density_study.analysis.capacity.inputs.point import grouped
from density_study.analysis.capacity.traces import (
    cromwell,
    galaxy,
    healthomics,
    nextflow,
    slurm,
    snakemake,
    spark,
)
from density_study.analysis.capacity.traces.source import Source
from density_study.analysis.capacity.traces.task import Record, Trace, trace_of
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.plain import plain
from density_study.workloads.imports.foreign import Foreign, foreign

READERS: Mapping[str, Callable[..., Record]] = {
    "cromwell": cromwell.read,
    "galaxy": galaxy.read,
    "healthomics": healthomics.read,
    "nextflow": nextflow.read,
    "slurm": slurm.read,
    "snakemake": snakemake.read,
    "spark": spark.read,
}
KNOWN = (
    "a trace.txt of Nextflow, metadata of Cromwell, benchmarks of Snakemake, a run manifest of HealthOmics, "
    "sacct -P of Slurm, an event log of Spark, or job metrics of Galaxy"
)
ROLLED = re.compile(r"events_(\d{1,9})_")
NO_RECORD = "appstatus_"  # an empty file beside a rolling log, which says that the application runs
MOST_FILES = 20_000
MOST_TASKS = 2_000_000
MOST_PROCESSES = 1_000
"""Every process is compared with every other one. Those of the largest pipelines are some hundred."""
MOST_NAME = 1_000


def read_traces(paths: Sequence[Path]) -> Trace:
    """Read the records of one run: files, or folders of files. InputError for a file that is none."""
    sources = [source for path in paths for source in _sources(path)]
    if not 1 <= len(sources) <= MOST_FILES:
        raise InputError(
            f"{len(sources):,} files are named.", "import-trace", f"name 1 to {MOST_FILES:,} files."
        )
    kinds: dict[str, None] = {}
    records, count, processes = [], 0, set[str]()
    for source, *more in _logs(sources):
        found = _kind(source)
        kinds[found.name] = None
        records.append(_record(source, found, more))
        count += len(records[-1].tasks)
        if count > MOST_TASKS:
            source.refuse(f"more than {MOST_TASKS:,} tasks.", "name the records of fewer runs.")
        processes |= {task.process for task in records[-1].tasks}
        _check_names(source, processes)
    return trace_of(" and ".join(kinds), records)


def _logs(sources: Sequence[Source]) -> Iterator[list[Source]]:
    """The files of a rolling event log of Spark together, in order, without those before a compacted one."""
    rolled = grouped(
        sources,
        lambda one: one.path.parent if ROLLED.match(one.path.name) else one.path,
    )
    for same in rolled.values():
        same.sort(key=_roll)
        compact = [place for place, one in enumerate(same) if ".compact" in one.path.name]
        same = same[compact[-1] :] if compact else same
        rolls = [_roll(one)[0] for one in same]
        if len(rolls) > 1 and rolls != list(range(rolls[0], rolls[0] + len(rolls))):
            same[0].refuse("a file of this rolling log is missing.", "name its whole folder.")
        yield same


def _roll(source: Source) -> tuple[int, bool]:
    match = ROLLED.match(source.path.name)
    return (int(match[1]) if match else 0, ".compact" in source.path.name)


def _record(source: Source, found: Foreign, more: Sequence[Source]) -> Record:
    try:
        return READERS[found.trace](source, *more)
    except RecursionError:
        source.refuse("the JSON is nested too deeply.", "name a record of a workflow.")


def _check_names(source: Source, processes: Set[str]) -> None:
    if len(processes) > MOST_PROCESSES:
        source.refuse(
            f"more than {MOST_PROCESSES:,} processes.",
            "give tasks of one kind one name, without what tells them apart, such as a number.",
        )
    for name in processes:
        if len(name) > MOST_NAME or plain(name) != name:
            source.refuse(
                f"the process {plain(name[:40])!r} has control characters or a name of more than "
                f"{MOST_NAME:,} characters.",
                "give it another name.",
            )


def _sources(path: Path) -> list[Source]:
    if not path.is_dir():
        return [Source(path)]
    files = sorted(
        one
        for one in path.rglob("*")
        if one.is_file() and not one.name.startswith((".", NO_RECORD))
    )
    return [Source(one, in_folder=True) for one in files]


def _kind(source: Source) -> Foreign:
    found = foreign(source.head)
    if found is None:
        source.refuse("this is no record of a workflow that is known here.", f"name {KNOWN}.")
    if found.trace not in READERS:
        source.refuse(f"this is {found.name}, not a record of a workflow.", f"{found.advice}.")
    return found
