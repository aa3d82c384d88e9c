"""A trace as a profile: what the pipeline used, by process.

A process is a stage. Attempts that failed, were aborted or were preempted are demand like those that
succeeded. What a trace does not say (storage, queries, peak) is wgs30x's, with its tags. What it should say
and does not (CPU, memory or I/O of a process) stays unknown, and every plan repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from density_study.analysis.capacity.inputs.point import grouped
from density_study.analysis.capacity.inputs.profile import Profile, read_profile
from density_study.analysis.capacity.traces.by_size import Law, laws, read_sizes, scaled
from density_study.analysis.capacity.traces.graph import in_order, predecessors
from density_study.analysis.capacity.traces.readers import read_traces
from density_study.analysis.capacity.traces.stage import StageOf
from density_study.analysis.capacity.traces.task import Task, Trace, core_s, statuses
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.plain import counted, plain
from density_study.cluster.state.atomic import write_text

SHOWN_NAMES = 4
MOST_GENOMES = 100_000_000


@dataclass(frozen=True)
class Imported:
    """laws: run time and memory over the size of the input; excuses: why processes have none."""

    profile: Profile
    laws: tuple[Law, ...] = ()
    excuses: tuple[str, ...] = ()


def write_profile(
    traces: Sequence[Path],
    genomes: int,
    output: Path,
    sizes: Path | None = None,
    input_gib: float | None = None,
) -> Imported:
    """Read traces of one run and write their profile as YAML. sizes: CSV of samples with the GiB of their
    input. input_gib: the profile is that of a sample of this size. InputError if no law supports it."""
    source = _names([plain(path.name) for path in traces])
    trace = read_traces(traces)
    profile = profile_of(trace, genomes, plain(output.stem), source)
    found, excuses = laws(trace, read_sizes(sizes) if sizes else {})
    if input_gib is not None:
        if not found:
            raise InputError(
                f"no run time over size: {'; '.join(excuses[:SHOWN_NAMES])}.",
                "--input-gib",
                "name the sizes of the samples with --sizes, and the records of more samples.",
            )
        names = stage_names(in_order(_worked(trace)))
        profile = scaled(profile, names, found, input_gib)
    write_text(output, yaml.safe_dump(profile.model_dump(mode="json"), sort_keys=False))
    return Imported(profile, tuple(found), tuple(excuses) if sizes else ())


def profile_of(trace: Trace, genomes: int, name: str, source: str) -> Profile:
    """InputError unless genomes is 1 to MOST_GENOMES and a task of the trace ended."""
    if not 1 <= genomes <= MOST_GENOMES:
        raise InputError(
            f"the number of genomes is {str(genomes)[:40]}.",
            "--genomes",
            f"give 1 to {MOST_GENOMES:,}.",
        )
    worked = _worked(trace)
    if not worked:
        raise InputError(
            "no task of the trace was completed.", source, "give a trace of a whole run."
        )
    order = in_order(worked)
    called, after = stage_names(order), predecessors(worked, order)
    found = {
        process: StageOf(called[process], worked[process], genomes, source) for process in order
    }
    stages = [
        {
            "name": called[process],
            "after": [called[one] for one in after[process]],
            **found[process].numbers(),
        }
        for process in order
    ]
    made = list(found.values())
    unknown = [*trace.unknown, *_never_done(trace, worked), *_merged(made)]
    base = read_profile("wgs30x").model_dump(mode="json")
    measured = {"profile": name, "about": f"from {trace.kind}: {source}", "stages": stages}
    notes = [
        *trace.notes,
        *_lost(trace.tasks, made),
        *_by_peak(made),
        *_by_busy_cores(made),
        *_noted(made),
    ]
    return Profile.model_validate({**base, **measured, "unknown": unknown, "notes": notes})


def _noted(stages: Iterable[StageOf]) -> Iterator[str]:
    for stage in stages:
        yield from stage.notes


def _lost(tasks: Sequence[Task], stages: Sequence[StageOf]) -> Iterator[str]:
    """What attempts cost that did not succeed: demand like any other."""
    lost = [task for task in tasks if task.outcome == "lost"]
    if not lost:
        return
    what = f"{counted(len(lost), 'attempt')} did not succeed ({statuses(lost)})"
    hours, whole = sum(one.lost_hours for one in stages), sum(one.hours for one in stages)
    if not hours:
        yield f"{what}: their work is unknown"
        return
    yield f"{what}: {hours:.4g} core-hours, {hours / whole:.0%} of the bill; they count as demand"
    untimed = sum(task.cpu_s is None and task.realtime_s is None for task in lost)
    if untimed:
        yield f"the work of {counted(untimed, 'lost attempt')} is unknown and in no number"


def _by_peak(stages: Sequence[StageOf]) -> Iterator[str]:
    if named := _names([stage.name for stage in stages if stage.packs_by_peak]):
        yield (
            f"requested memory is not recorded for {named}: the plan packs by the peak used, and a scheduler "
            "that packs by requests needs more"
        )


def _by_busy_cores(stages: Sequence[StageOf]) -> Iterator[str]:
    if named := _names([stage.name for stage in stages if stage.counts_busy]):
        yield (
            f"reserved cores are not recorded for {named}: a task takes the cores that it kept busy, rounded "
            "up, and a scheduler that reserves more needs more"
        )


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return ", ".join(names[:SHOWN_NAMES]) + more


def _worked(trace: Trace) -> dict[str, list[Task]]:
    """The attempts of each process that is a stage."""
    ended = (task for task in trace.tasks if task.outcome != "running")
    by_process = grouped(ended, lambda task: task.process)
    return {process: tasks for process, tasks in by_process.items() if _is_stage(tasks)}


def _is_stage(tasks: Sequence[Task]) -> bool:
    return any(task.outcome != "lost" or core_s(task) for task in tasks)


def _never_done(trace: Trace, worked: Mapping[str, Sequence[Task]]) -> Iterator[str]:
    ended = (task.process for task in trace.tasks if task.outcome != "running")
    for process in dict.fromkeys(ended):
        if process not in worked:
            yield f"process {process}: none of its tasks was completed, so it is not a stage"


def _merged(stages: Sequence[StageOf]) -> Iterator[str]:
    """What every stage lacks is one line."""
    lacking = [stage.lacking for stage in stages]
    everywhere = set.intersection(*lacking) if len(lacking) > 1 else set()
    if named := _names([stage.name for stage in stages if stage.counts_reserved]):
        yield (
            f"CPU time is not recorded for {named}: the cores that the tasks reserved count as busy for "
            "their whole run time"
        )
    for what in sorted(everywhere):
        yield f"{what} unknown for every stage, counted as none"
    for stage in stages:
        yield from stage.unknown
        for what in sorted(stage.lacking - everywhere):
            yield f"stage {stage.name}: {what} unknown, counted as none"


def stage_names(processes: Sequence[str]) -> dict[str, str]:
    """By process: its own name; with those of its subworkflows where processes of several have the same."""
    parts = {process: process.split(":") for process in processes}
    count = dict.fromkeys(processes, 1)

    def named(process: str) -> str:
        words = ":".join(parts[process][-count[process] :]).lower()
        return re.sub(r"[^a-z0-9]+", "-", words).strip("-") or "stage"

    for _ in range(max(map(len, parts.values()), default=0)):
        for same in grouped(processes, named).values():
            if len(same) > 1:
                count |= {process: count[process] + 1 for process in same}
    names: dict[str, str] = {}
    taken: set[str] = set()
    for process in processes:  # equal still, without the signs that a stage's name cannot have
        name, number = named(process), 2
        while name in taken:
            name, number = f"{named(process)}-{number}", number + 1
        names[process] = name
        taken.add(name)
    return names
