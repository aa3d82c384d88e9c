"""A trace of Nextflow as a profile: what the pipeline used, by process.

A process is a stage; it comes after the process of the same sample that ended last before it was
submitted. What a trace does not say (storage, queries, peak) is wgs30x's, with its tags. What it should say
and does not (CPU, memory or I/O of a process) stays unknown, and every plan repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from density_study.analysis.capacity.inputs.nextflow import Task, Trace, read_trace
from density_study.analysis.capacity.inputs.points import grouped
from density_study.analysis.capacity.inputs.profile import Profile, read_profile
from density_study.cluster.model.errors import InputError
from density_study.cluster.state.atomic import write_text

FEW = 3
MARGIN = 1.25  # range of a number with fewer than 3 observations: plus or minus a quarter


def write_profile(trace: Path, genomes: int, output: Path) -> Profile:
    """Read a trace and write its profile as YAML."""
    profile = profile_of(read_trace(trace), genomes, output.stem, trace.name)
    write_text(output, yaml.safe_dump(profile.model_dump(mode="json"), sort_keys=False))
    return profile


def profile_of(trace: Trace, genomes: int, name: str, source: str) -> Profile:
    """InputError unless genomes is 1 or more."""
    if genomes < 1:
        raise InputError(f"the number of genomes is {genomes}.", "--genomes", "give at least 1.")
    by_process = grouped(trace.tasks, lambda task: task.process)
    order = sorted(by_process, key=lambda process: _first(by_process[process]))
    called = _stage_names(order)
    unknown, stages = list(trace.left_out), []
    for place, process in enumerate(order):
        found = _Stage(called[process], by_process[process], genomes, source)
        after = [called[one] for one in _after(by_process, process, order[:place])]
        stages.append({"name": called[process], "after": after, **found.numbers()})
        unknown += found.unknown
    base = read_profile("wgs30x").model_dump(mode="json")
    measured = {"profile": name, "about": f"measured by Nextflow: {source}", "stages": stages}
    return Profile.model_validate({**base, **measured, "unknown": unknown})


def _stage_names(processes: Sequence[str]) -> dict[str, str]:
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
    for (
        process
    ) in processes:  # names may still be equal without the signs that a stage's cannot have
        name, number = named(process), 2
        while name in names.values():
            name, number = f"{named(process)}-{number}", number + 1
        names[process] = name
    return names


def _first(tasks: Sequence[Task]) -> float:
    return min((task.submit_s for task in tasks if task.submit_s is not None), default=0.0)


def _after(tasks: Mapping[str, Sequence[Task]], process: str, before: Sequence[str]) -> list[str]:
    """The one stage that ended last before this one was submitted, for the same sample if it has one."""
    mine = tasks[process][0]
    if mine.submit_s is None:
        return list(before[-1:])  # without times: a chain, in the trace's order
    ended = [
        (task.end_s, one)
        for one in before
        for task in tasks[one]
        if task.end_s is not None
        and task.end_s <= mine.submit_s
        and (task.tag == mine.tag or not task.tag or not mine.tag)
    ]
    return [max(ended)[1]] if ended else []


class _Stage:
    """The numbers of one stage. unknown: in words, what of it the trace does not say."""

    def __init__(self, name: str, tasks: Sequence[Task], genomes: int, source: str) -> None:
        self._name, self._tasks = name, tasks
        self._genomes, self._source = genomes, source
        self.unknown: list[str] = []

    def numbers(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "tasks": max(1, round(len(self._tasks) / self._genomes)),
            "cores_per_task": max(task.cpus for task in self._tasks),
            "demands": {},
            **self._cpu(),
        }
        memory = [task.rss_mib / 1024 for task in self._tasks if task.rss_mib]
        if memory:
            # the largest task decides what fits into a VM
            found["ram_gib"] = {**_fixed(max(memory), self._source), "low": min(memory)}
        read, written = (
            [task.read_mib for task in self._tasks],
            [task.write_mib for task in self._tasks],
        )
        for resource, amounts in (("hdfs_read", read), ("hdfs_write", written)):
            if (demand := self._demand(resource, amounts)) is not None:
                found["demands"][resource] = demand
        return found

    def _cpu(self) -> dict[str, Any]:
        """Core-hours and efficiency; of tasks without %cpu as of the others of the process."""
        known = [task for task in self._tasks if task.cpu_cores is not None and task.realtime_s]
        spent_s = sum(_realtime_s(task) for task in self._tasks)
        known_s = sum(_realtime_s(task) for task in known)
        busy_s = [_realtime_s(task) * (task.cpu_cores or 0.0) for task in known]
        missing = len(self._tasks) - len(known)
        if not sum(busy_s):
            count = _tasks(len(self._tasks))
            why = f"the trace has no %cpu of its {count} of {spent_s / 3600:.3g} h in all"
            if not spent_s:
                why = f"its {count} took 0 s"
            self.unknown.append(
                f"stage {self._name}: CPU unknown, {why}; its work is in no number, and a plan is too small "
                "by it"
            )
            if not any(task.rss_mib for task in self._tasks):
                self.unknown.append(f"stage {self._name}: memory unknown, too")
            return {}
        total_h = sum(busy_s) / known_s * spent_s / 3600 / self._genomes
        # ratio of sums, not a mean of ratios: a short task counts as much as it occupies its cores
        share = sum(busy_s) / sum(_realtime_s(task) * task.cpus for task in known)
        if missing:
            self.unknown.append(
                f"stage {self._name}: no %cpu of {missing} of {_tasks(len(self._tasks))}; counted as busy as "
                "the others"
            )
        return {
            "core_hours": self._ranged(busy_s, total_h, missing),
            "cpu_efficiency": _fixed(min(1.0, max(0.01, share)), self._source),
        }

    def _demand(self, resource: str, amounts: Sequence[float | None]) -> dict[str, Any] | None:
        """Of all tasks: those without a number count as the mean of the others."""
        known = [amount for amount in amounts if amount is not None]
        missing = len(amounts) - len(known)
        if not known:
            self.unknown.append(f"stage {self._name}: {resource} unknown, counted as none")
            return None
        if not sum(known):
            return None
        if missing:
            self.unknown.append(
                f"stage {self._name}: no {resource} of {missing} of {_tasks(len(amounts))}; counted as the "
                "mean of the others"
            )
        total = sum(known) / len(known) * len(amounts) / self._genomes
        return self._ranged([amount for amount in known if amount], total, missing)

    def _ranged(self, seen: Sequence[float], total: float, missing: int) -> dict[str, Any]:
        """`total` with the relative range of single tasks; no measurement if some of it is not."""
        fixed = _fixed(total, self._source)
        if missing:
            fixed |= {"tag": "calculated", "source": f"{self._source}, without {_tasks(missing)}"}
        if len(seen) < FEW or min(seen) <= 0:
            return {**fixed, "low": total / MARGIN, "high": total * MARGIN}
        low, middle, high = np.quantile(seen, (0.05, 0.5, 0.95)) / np.mean(seen)
        return {
            **fixed,
            "low": float(total * min(1.0, low / middle)),
            "high": float(total * max(1.0, high / middle)),
        }


def _realtime_s(task: Task) -> float:
    return task.realtime_s or 0.0


def _tasks(count: int) -> str:
    return f"{count:,} task{'s' * (count != 1)}"


def _fixed(value: float, source: str) -> dict[str, Any]:
    value = float(value)
    return {"value": value, "low": value, "high": value, "tag": "measured", "source": source}
