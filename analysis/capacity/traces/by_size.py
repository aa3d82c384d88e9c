"""Run time and memory of a stage as functions of the size of a sample's input, from several samples.

    log y = a + b log(size)

by least squares; y is the core-hours or the memory of one sample. Intervals of a new sample follow Student's
t (N. Draper, H. Smith 1998, Applied Regression Analysis). Fewer than three sizes, or fewer than four samples,
support no function, and none is extrapolated beyond 1.5 times the largest size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.inputs.csv_rows import (
    check_points_are_decimal,
    csv_rows,
    delimiter_of,
)
from density_study.analysis.capacity.inputs.point import grouped
from density_study.analysis.capacity.inputs.profile import Profile
from density_study.analysis.capacity.traces.source import Source
from density_study.analysis.capacity.traces.task import Task, Trace, core_s
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.plain import counted

SIZES, SAMPLES = 3, 4  # at least, for a function
FARTHEST = 1.5  # over the largest size measured
CONFIDENCE = 0.9
COLUMNS = ("sample", "gib")
WORK, MEMORY = "core-hours", "GiB of memory"


@dataclass(frozen=True)
class Law:
    """y = exp(a) size^b over sizes in GiB; exponent with its 90 % interval."""

    process: str
    quantity: str  # WORK or MEMORY
    exponent: float
    low: float
    high: float
    sizes_gib: Floats
    _values: Floats

    def at(self, size_gib: float) -> tuple[float, float, float]:
        """(low, middle, high) of one new sample of this size, 90 %. InputError beyond what was measured."""
        least, most = float(self.sizes_gib.min()) / FARTHEST, float(self.sizes_gib.max()) * FARTHEST
        if not least <= size_gib <= most:
            raise InputError(
                f"{size_gib:g} GiB is beyond what {self.process} was measured at.",
                "--input-gib",
                f"give {least:.3g} to {most:.3g}, or the record of a sample of such a size.",
            )
        x, y = np.log(self.sizes_gib), np.log(self._values)
        fit = stats.linregress(x, y)
        residual = y - fit.intercept - fit.slope * x
        degrees = len(x) - 2
        variance = float((residual**2).sum()) / degrees
        spread = float(((x - x.mean()) ** 2).sum())
        far = np.log(size_gib) - x.mean()
        half = (
            float(stats.t.ppf((1 + CONFIDENCE) / 2, degrees))
            * (variance * (1 + 1 / len(x) + far**2 / spread)) ** 0.5
        )
        middle = fit.intercept + fit.slope * np.log(size_gib)
        low, centre, high = np.exp([middle - half, middle, middle + half])
        return float(low), float(centre), float(high)


def read_sizes(path: Path) -> dict[str, float]:
    """GiB of input by sample, from CSV with the columns `sample` and `gib`. InputError, with the line."""
    found: dict[str, float] = {}
    text = Source(path).text()
    rows = list(csv_rows(text, str(path), COLUMNS))
    if delimiter_of(text, COLUMNS) != ",":
        check_points_are_decimal(rows, COLUMNS[1:])
    for where, row in rows:
        try:
            size = float(row["gib"])
        except ValueError:
            size = float("nan")
        if not 0 < size < 1e6 or row["sample"] in found:
            raise InputError(
                f"sample {row['sample']!r} has {row['gib']!r} GiB, or is there twice.",
                where,
                "give each sample once, with a positive size in GiB.",
            )
        found[row["sample"]] = size
    return found


def laws(trace: Trace, sizes_gib: Mapping[str, float]) -> tuple[list[Law], list[str]]:
    """(laws of each process that has enough samples; why the others have none). Sizes in the record itself
    are used where `sizes_gib` lacks the sample."""
    found: list[Law] = []
    excuses: list[str] = []
    done = [task for task in trace.tasks if task.outcome == "done"]
    for process, tasks in grouped(done, lambda task: task.process).items():
        samples = list(_samples(tasks, sizes_gib))
        if len(samples) < SAMPLES or len({size for size, _, _ in samples}) < SIZES:
            excuses.append(
                f"{process}: {counted(len(samples), 'sample')} of known size; a function needs {SAMPLES} "
                f"samples of {SIZES} sizes"
            )
            continue
        for quantity, place, factor in ((WORK, 1, 1 / 3600), (MEMORY, 2, 1 / 1024)):
            pairs = [(one[0], one[place] * factor) for one in samples if one[place]]
            if len(pairs) >= SAMPLES and len({size for size, _ in pairs}) >= SIZES:
                found.append(_law(process, quantity, np.array(pairs)))
    return found, excuses


def _law(process: str, quantity: str, pairs: Floats) -> Law:
    sizes, values = pairs[:, 0], pairs[:, 1]
    fit = stats.linregress(np.log(sizes), np.log(values))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(sizes) - 2)) * float(fit.stderr)
    slope = float(fit.slope)
    return Law(process, quantity, slope, slope - half, slope + half, sizes, values)


def _samples(
    tasks: Sequence[Task], sizes_gib: Mapping[str, float]
) -> Iterator[tuple[float, float, float]]:
    """(GiB of input, core-seconds, MiB of memory) of each sample; 0 where unknown."""
    for sample, same in grouped(tasks, lambda task: _sample(task.tag, sizes_gib)).items():
        own = sum(task.input_mib or 0.0 for task in same) / 1024
        size = sizes_gib.get(sample, own)
        work = [core_s(task) for task in same]
        if size:
            whole = sum(one for one in work if one is not None) if None not in work else 0.0
            yield size, whole, max((task.rss_mib or 0.0 for task in same), default=0.0)


def _sample(tag: str, sizes_gib: Mapping[str, float]) -> str:
    """The longest name of a sample that the tag is or begins with: `s1`, `s1:chr2`, `s1/3`; else the tag."""
    if tag in sizes_gib:
        return tag
    starts = [one for one in sizes_gib if tag.startswith(one) and not tag[len(one)].isalnum()]
    return max(starts, key=len, default=tag)


def scaled(profile: Profile, names: Mapping[str, str], found: Sequence[Law], gib: float) -> Profile:
    """The profile of a sample with `gib` of input: core-hours and memory of the stages that have a law, the
    others as they were. names: process to stage. InputError beyond the sizes that were measured."""
    by_stage = {(names[law.process], law.quantity): law for law in found}
    stages = []
    for stage in profile.stages:
        numbers = stage.model_dump(mode="json")
        work = by_stage.get((stage.name, WORK))
        if work is not None:
            numbers["core_hours"] = _value(
                work, gib, 1 / (1 - stage.lost) if stage.lost < 1 else 1.0
            )
        memory = by_stage.get((stage.name, MEMORY))
        if memory is not None:
            used = _value(memory, gib, 1.0)
            if stage.ram_used_gib is None:
                numbers["ram_gib"] = used
            else:
                numbers["ram_used_gib"] = used
                if stage.ram_gib is None or stage.ram_gib.value < used["value"]:
                    numbers["ram_gib"] = used
        stages.append(numbers)
    fixed = [stage.name for stage in profile.stages if (stage.name, WORK) not in by_stage]
    unknown = list(profile.unknown)
    if fixed:
        unknown.append(
            f"no function of the input's size for {', '.join(fixed)}: as in the samples of the record"
        )
    about = f"{profile.about}; for {gib:g} GiB of input"
    document = profile.model_dump(mode="json")
    return Profile.model_validate(
        {**document, "stages": stages, "unknown": unknown, "about": about}
    )


def _value(law: Law, gib: float, factor: float) -> dict[str, Any]:
    low, middle, high = (one * factor for one in law.at(gib))
    source = f"{len(law.sizes_gib)} samples, size to the power {law.exponent:.2f}"
    return {"value": middle, "low": low, "high": high, "tag": "calculated", "source": source}
