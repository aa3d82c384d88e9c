"""The numbers of one stage of a profile, from the attempts of one process."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from density_study.analysis.capacity.inputs.ranged import FEW, MARGIN
from density_study.analysis.capacity.traces.task import Task
from density_study.cluster.model.plain import counted


class StageOf:
    """unknown: in words, what the trace does not say of the stage. lacking: resources of which it says
    nothing. notes: what else it says."""

    def __init__(self, name: str, tasks: Sequence[Task], genomes: int, source: str) -> None:
        self.name = name
        self._attempts = [task for task in tasks if task.outcome in ("done", "lost")]
        self._done = [task for task in tasks if task.outcome == "done"]
        self._reused = sum(task.outcome == "reused" for task in tasks)
        self._genomes, self._source = genomes, source
        self.unknown: list[str] = []
        self.lacking: set[str] = set()
        self.notes: list[str] = []
        self.packs_by_peak = self.counts_reserved = self.counts_busy = False
        self.lost_hours = self.hours = 0.0

    def numbers(self) -> dict[str, Any]:
        count = len(self._done) + self._reused
        found: dict[str, Any] = {
            "tasks": max(1, round(count / self._genomes)),
            "cores_per_task": max(map(_cores, self._attempts), default=1),
            "demands": {},
            **self._cpu(),
            **self._memory(),
        }
        read = [task.read_mib for task in self._attempts]
        written = [task.write_mib for task in self._attempts]
        for resource, amounts in (("hdfs_read", read), ("hdfs_write", written)):
            if (demand := self._demand(resource, amounts)) is not None:
                found["demands"][resource] = demand
        self._note()
        return found

    @property
    def _scale(self) -> float:
        """Tasks that another run did count as those that this run did."""
        return 1 + self._reused / len(self._done) if self._done else 1.0

    def _cpu(self) -> dict[str, Any]:
        """Core-hours and efficiency. Tasks without a counter count as the others of the process, or with
        the cores that they reserved."""
        spent_s = sum(task.realtime_s or 0.0 for task in self._attempts)
        counted_tasks = [task for task in self._attempts if task.cpu_s is not None]
        if sum(task.cpu_s or 0.0 for task in counted_tasks):
            timed = [task for task in counted_tasks if task.realtime_s]
            return self._busy(timed) if timed else self._untimed(counted_tasks)
        if spent_s and all(task.cpus for task in self._attempts if task.realtime_s):
            return self._reserved()
        count = counted(len(self._attempts), "task")
        why = f"the trace has no CPU time of its {count} of {spent_s / 3600:.3g} h in all"
        if not spent_s:
            recorded = any(task.realtime_s is not None for task in self._attempts)
            why = f"its {count} took 0 s" if recorded else f"no run time of its {count} is recorded"
        if not self._attempts:
            why = f"another run did its {counted(self._reused, 'task')}"
        self.unknown.append(
            f"stage {self.name}: CPU unknown, {why}; its work is in no number, and a plan is too small "
            "by it"
        )
        if not any(task.rss_mib or task.requested_mib for task in self._attempts):
            self.unknown.append(f"stage {self.name}: memory unknown also")
        return {}

    def _busy(self, known: Sequence[Task]) -> dict[str, Any]:
        busy_s = sum(task.cpu_s or 0.0 for task in known)
        ratio = busy_s / sum(task.realtime_s or 0.0 for task in known)
        # ratio of sums, not a mean of ratios: a short task counts as much as it occupies its cores
        share = busy_s / sum((task.realtime_s or 0.0) * _cores(task) for task in known)
        core_s = {
            id(task): ratio * (task.realtime_s or 0.0) if task.cpu_s is None else task.cpu_s
            for task in self._attempts
            if task.cpu_s is not None or task.realtime_s is not None
        }
        self.counts_busy = any(task.cpus is None for task in known)
        missing = sum(task.cpu_s is None for task in self._attempts)
        if missing:
            of = counted(len(self._attempts), "task")
            self.unknown.append(
                f"stage {self.name}: no CPU time of {missing} of {of}; counted as busy as the others"
            )
        return {
            **self._core_hours(core_s, missing),
            "cpu_efficiency": _fixed(min(1.0, max(0.01, share)), self._source),
        }

    def _untimed(self, known: Sequence[Task]) -> dict[str, Any]:
        self.unknown.append(
            f"stage {self.name}: run time not recorded; its cores count as always busy, so it may take longer"
        )
        core_s = {id(task): task.cpu_s or 0.0 for task in known}
        return self._core_hours(core_s, len(self._attempts) - len(known))

    def _reserved(self) -> dict[str, Any]:
        self.counts_reserved = True
        core_s = {
            id(task): (task.cpus or 0) * task.realtime_s
            for task in self._attempts
            if task.realtime_s is not None
        }
        return self._core_hours(core_s, len(self._attempts))

    def _core_hours(self, core_s: dict[int, float], missing: int) -> dict[str, Any]:
        """core_s: core-seconds by the id of an attempt. missing: attempts whose own are not measured."""
        useful = [core_s[id(task)] for task in self._done if id(task) in core_s]
        untimed = len(self._done) - len(useful)
        lost_s = sum(core_s.values()) - sum(useful)
        total_s = lost_s
        if useful:
            total_s += sum(useful) * self._scale * len(self._done) / len(useful)
        if untimed:
            self.unknown.append(
                f"stage {self.name}: no run time of {counted(untimed, 'completed task')}; counted as the "
                "mean of the others"
            )
        if self._reused and useful:
            self.unknown.append(
                f"stage {self.name}: {counted(self._reused, 'task')} done by another run, counted as the "
                "mean of the others"
            )
        if not useful:
            self.unknown.append(
                f"stage {self.name}: no attempt succeeded; only the work of those that failed is counted, "
                "and a plan is too small by the rest"
            )
        missing += untimed + self._reused
        self.lost_hours, self.hours = lost_s / 3600, total_s / 3600
        return {
            "core_hours": self._ranged(useful, total_s / 3600 / self._genomes, missing),
            "lost": round(lost_s / total_s, 4) if total_s else 0.0,
        }

    def _memory(self) -> dict[str, Any]:
        """A scheduler packs by what tasks request; where that is not recorded, by the peak that they used."""
        used = [task.rss_mib / 1024 for task in self._attempts if task.rss_mib]
        requested = [task.requested_mib / 1024 for task in self._attempts if task.requested_mib]
        # the largest task decides what fits into a VM
        found: dict[str, Any] = {}
        if used:
            found["ram_gib"] = {**_fixed(max(used), self._source), "low": min(used)}
        if requested:
            found = {"ram_used_gib": found["ram_gib"]} if used else {}
            most = max(*requested, *used, 0.0)
            source = f"{self._source}: requested"
            found["ram_gib"] = {**_fixed(most, source), "low": min(requested)}
            if used and max(used) < most:
                self.notes.append(
                    f"stage {self.name} requests {max(requested):.3g} GiB per task and used {max(used):.3g} "
                    "at most; the plan packs by the request"
                )
        self.packs_by_peak = bool(used) and not requested
        return found

    def _demand(self, resource: str, amounts: Sequence[float | None]) -> dict[str, Any] | None:
        """The stage's demand over all tasks. A task without a number counts as the mean of the others."""
        known = [amount for amount in amounts if amount is not None]
        missing = len(amounts) - len(known)
        if not known:
            self.lacking.add(resource)
            return None
        if not sum(known):
            return None
        if missing:
            of = counted(len(amounts), "task")
            self.unknown.append(
                f"stage {self.name}: no {resource} of {missing} of {of}; counted as the mean of the others"
            )
        total = sum(known) / len(known) * len(amounts) * self._scale / self._genomes
        return self._ranged([amount for amount in known if amount], total, missing)

    def _ranged(self, seen: Sequence[float], total: float, missing: int) -> dict[str, Any]:
        """`total` with the relative range of single tasks; no measurement if some of it is not."""
        fixed = _fixed(total, self._source)
        if missing:
            source = f"{self._source}, without {counted(missing, 'task')}"
            fixed |= {"tag": "calculated", "source": source}
        if len(seen) < FEW or min(seen) <= 0:
            return {**fixed, "low": total / MARGIN, "high": total * MARGIN}
        low, middle, high = np.quantile(seen, (0.05, 0.5, 0.95)) / np.mean(seen)
        return {
            **fixed,
            "low": float(total * min(1.0, low / middle)),
            "high": float(total * max(1.0, high / middle)),
        }

    def _note(self) -> None:
        spilled = [task.spilled_mib for task in self._attempts if task.spilled_mib]
        if spilled:
            gib = sum(spilled) / 1024 / self._genomes
            self.notes.append(
                f"stage {self.name} spilled {gib:.3g} GiB per genome to local disks: more memory per task "
                "shortens it"
            )
        collected = sum(task.gc_s or 0.0 for task in self._attempts)
        spent = sum(task.realtime_s or 0.0 for task in self._attempts)
        if spent and collected / spent > 0.1:
            self.notes.append(
                f"stage {self.name} spent {collected / spent:.0%} of its run time on garbage collection"
            )


def _cores(task: Task) -> int:
    if task.cpus is not None:
        return task.cpus
    if not task.cpu_s or not task.realtime_s:
        return 1
    return max(1, math.ceil(task.cpu_s / task.realtime_s - 0.1))


def _fixed(value: float, source: str) -> dict[str, Any]:
    value = float(value)
    return {"value": value, "low": value, "high": value, "tag": "measured", "source": source}
