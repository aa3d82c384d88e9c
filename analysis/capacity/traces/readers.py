"""The registry: which reader takes which file. Signatures and names are in workloads/imports/foreign.toml."""

from __future__ import annotations

import os
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

SPARK = "spark"
READERS: Mapping[str, Callable[[Source], Record]] = {
    "cromwell": cromwell.read,
    "galaxy": galaxy.read,
    "healthomics": healthomics.read,
    "nextflow": nextflow.read,
    "slurm": slurm.read,
    "snakemake": snakemake.read,
    SPARK: spark.read,
}
KNOWN = (
    "a trace.txt of Nextflow, metadata of Cromwell, benchmarks of Snakemake, a run manifest of HealthOmics, "
    "sacct -P of Slurm, an event log of Spark, or job metrics of Galaxy"
)
NO_RECORD = "appstatus_"  # an empty file beside a rolling log, which says that the application runs
MOST_FILES = 20_000
MOST_TASKS = 2_000_000
MOST_PROCESSES = 1_000
"""Every process is compared with every other one. The largest pipelines have some hundred."""
MOST_NAME = 1_000


def read_traces(paths: Sequence[Path]) -> Trace:
    """Read the records of one run: files, or folders of files. InputError for a file that is none."""
    sources = _once([source for path in paths for source in _sources(path)])
    if not 1 <= len(sources) <= MOST_FILES:
        raise InputError(
            f"{len(sources):,} files are named.", "import-trace", f"name 1 to {MOST_FILES:,} files."
        )
    kinds: dict[str, None] = {}
    records, count, processes = [], 0, set[str]()
    for found, (source, *more) in _of_records(sources):
        kinds[found.name] = None
        records.append(_record(source, found, more))
        count += len(records[-1].tasks)
        if count > MOST_TASKS:
            source.refuse(f"more than {MOST_TASKS:,} tasks.", "name the records of fewer runs.")
        processes |= {task.process for task in records[-1].tasks}
        _check_names(source, processes)
    return trace_of(" and ".join(kinds), records)


def _once(sources: Sequence[Source]) -> list[Source]:
    """Without files that are named twice, such as by a folder and alone."""
    found: dict[str, Source] = {}
    for source in sources:
        path = os.path.realpath(source.path)
        if path not in found or source.in_folder:
            found[path] = source
    return list(found.values())


def _of_records(sources: Sequence[Source]) -> Iterator[tuple[Foreign, list[Source]]]:
    """The kind and the file of each record; the files of a rolling event log of Spark are one."""
    for same in grouped(sources, spark.log_of).values():
        first = min(same, key=spark.roll)
        found = _kind(first)
        if found.trace == SPARK:
            yield found, same
        else:
            yield from ((found if one is first else _kind(one), [one]) for one in same)


def _record(source: Source, found: Foreign, more: Sequence[Source]) -> Record:
    try:
        return spark.read(source, *more) if found.trace == SPARK else READERS[found.trace](source)
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
        source.refuse("this is not the record of a supported workflow system.", f"name {KNOWN}.")
    if found.trace not in READERS:
        source.refuse(f"this is {found.name}, not a record of a workflow.", f"{found.advice}.")
    return found
