"""A profile from a run of the workload `pipeline`: what its stages used, scaled to a human genome at 30x.

CPU time and bytes grow with the bases of the reads; the value is that of the largest reference measured. What
the run cannot tell is wgs30x's, with its tags: into how many tasks a genome is divided, queries, storage, and
the load into the store, unless the run has it: that follows the variants, as many as wgs30x's genome has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from density_study.analysis.capacity.inputs.profile import Profile, Stage, read_profile
from density_study.analysis.capacity.inputs.ranged import FEW, MARGIN, QUANTILES
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.plain import counted
from density_study.workloads import tables
from density_study.workloads.pipeline.machine.files import ALIGN, COHORT, JOINT, LOAD, SORT, STAGES
from density_study.workloads.pipeline.machine.stages import SORT_MIB

if TYPE_CHECKING:  # the extra spark, which shipped profiles do not need
    import pandas as pd

PREFIX = "measured:"
BASE = "wgs30x"
HUMAN_BASES, HUMAN_COVERAGE = 3.1e9, 30
READ_BASES = HUMAN_BASES * HUMAN_COVERAGE
KEPT = "load"
COUNTERPARTS = {"align": "align", "sort-markdup": "sort-markdup", "call": "haplotypecaller",
                JOINT: "genotype", LOAD: KEPT}  # fmt: skip
"""Measured stage -> the one of wgs30x with the same task, by other programs."""
INDEX_BYTES = 1.75
"""Bytes of bwa's index for each base of the reference, all in memory: .bwt 1, .sa 0.5, .pac 0.25."""
BATCH_BASES = 2 * 10_000_000
"""Bases of reads that each thread of bwa mem has in memory: two batches, one read while the other is aligned.
A line over small references takes reads for the index: their batches are full from 2 Mb at 10x on."""
SIZES = 3
"""Sizes of the reference that make a curve."""
LOWER_BOUND = "a lower bound, because the index of a small reference fits into the CPU's caches"
UPPER_BOUND = "an upper bound of the loader, because the start of its JVM is scaled with it"
NOTES = {ALIGN: LOWER_BOUND, LOAD: UPPER_BOUND}


@dataclass(frozen=True)
class Difference:
    """A stage of the measured profile beside the same stage of the shipped one. None: that profile lacks the
    stage."""

    stage: str
    measured: Stage | None
    shipped: Stage | None
    note: str = ""


def measured_profile(run_root: Path) -> Profile:
    """InputError if the run has no valid trial of a pipeline; StudyError if it was not analysed."""
    seen = _observations(run_root)
    base = read_profile(BASE)
    shipped = {stage.name: stage for stage in base.stages}
    stages = []
    for place, name in enumerate(STAGES):
        of_stage = seen[seen["stage"] == name]
        if of_stage.empty:
            raise InputError(
                f"no valid trial of the run has the stage {name}.",
                str(run_root),
                "name a run of a study with the workload pipeline.",
            )
        stage = _stage(name, of_stage, shipped[COUNTERPARTS[name]], run_root.name)
        stages.append(stage | {"name": name, "after": STAGES[max(0, place - 1) : place]})
    load = shipped[KEPT].model_dump(mode="json") | {"after": [JOINT]}
    loads = seen[seen["stage"] == LOAD]
    if not loads.empty:
        load |= {"name": LOAD, **_load(run_root, loads, shipped[KEPT])}
    fields = base.model_dump(mode="json") | {
        "profile": f"measured-{run_root.name}",
        "about": f"one human genome at 30x, scaled from the pipeline of {run_root.name}",
        "stages": [*stages, load],
    }
    return Profile.model_validate(fields)


def differences(profile: Profile) -> tuple[Difference, ...]:
    """Stage by stage, the measured profile against wgs30x."""
    shipped = {stage.name: stage for stage in read_profile(BASE).stages}
    measured = [stage for stage in profile.stages if stage.name in COUNTERPARTS]
    found = [
        Difference(stage.name, stage, shipped[COUNTERPARTS[stage.name]], NOTES.get(stage.name, ""))
        for stage in measured
    ]
    taken = {COUNTERPARTS[stage.name] for stage in measured}
    others = [stage for name, stage in shipped.items() if name not in taken]
    for stage in others:
        kept = stage.name == KEPT
        note = f"not measured: {BASE}'s" if kept else "not part of the measured pipeline"
        found.append(Difference(stage.name, stage if kept else None, stage, note))
    return tuple(found)


def _observations(run_root: Path) -> pd.DataFrame:
    """One row per stage of each genome, of all valid trials; of joint genotyping a row per node, as its
    genomes' mean. Columns of `pipeline_stages`, and bases, coverage, threads, concurrent, read_bases."""
    from density_study.workloads.tables.store import read_table

    trials = read_table(run_root, tables.TRIALS).set_index("trial")
    valid = read_table(run_root, tables.VERDICTS).set_index("trial")["verdict"] == "valid"
    rows = read_table(run_root, tables.PIPELINE_STAGES)
    rows = rows[rows["trial"].map(valid).fillna(False).astype(bool)]
    if rows.empty:
        raise InputError(
            "the run has no valid trial of a pipeline.",
            str(run_root),
            "name a run of a study with the workload pipeline, for example genomics-pipeline.",
        )
    rows = rows.join(trials[["bases", "coverage", "threads", "concurrent"]], on="trial")
    alone = rows[rows["genome"] != COHORT].groupby(["trial", "client"])["genome"].nunique()
    joined = rows["genome"] == COHORT
    genomes = rows.join(alone.rename("genomes"), on=["trial", "client"])["genomes"].where(joined, 1)
    return rows.assign(
        read_bases=rows["bases"] * rows["coverage"] * genomes,
        wall_s=rows["end_epoch_s"] - rows["start_epoch_s"],
    )


def _stage(name: str, seen: pd.DataFrame, shipped: Stage, run: str) -> dict[str, Any]:
    largest = _largest(seen)
    source = f"{run}: {_words(largest)}"
    demands = {
        resource: _scaled(largest, column, source, READ_BASES / 2**20)
        for resource, column in (("hdfs_read", "read_bytes"), ("hdfs_write", "written_bytes"))
        if largest[column].notna().all()
    }
    return {
        "core_hours": _core_hours(name, seen, largest, shipped, source),
        "cpu_efficiency": _cpu_efficiency(largest, source),
        "ram_gib": _ram_gib(name, seen, shipped, source),
        "tasks": shipped.tasks,
        "cores_per_task": shipped.cores_per_task,
        "demands": demands,
    }


def _load(run_root: Path, seen: pd.DataFrame, shipped: Stage) -> dict[str, Any]:
    """What a load used for each variant, times the variants of a human genome."""
    from density_study.workloads.tables.store import read_table

    answers = read_table(run_root, tables.PIPELINE_ANSWERS)
    stored = answers[answers["stage"] == LOAD].set_index(["trial", "client"])["found"]
    seen = seen.join(stored.rename("variants"), on=["trial", "client"])
    largest = _largest(seen)
    source = (
        f"{run_root.name}: {counted(len(largest), 'load')} of {largest['variants'].median():,.0f} variants; "
        f"{UPPER_BOUND}"
    )
    core_hours = largest["core_s"] / largest["variants"] / 3600.0
    return {
        "core_hours": _measured(core_hours * shipped.demands["hbase_write"].value, source),
        "cpu_efficiency": _cpu_efficiency(largest, source),
        "ram_gib": _ram_gib(LOAD, seen, shipped, source),
    }


def _cpu_efficiency(largest: pd.DataFrame, source: str) -> dict[str, Any]:
    """The busy share of a task's threads, over the tasks that ran beside the fewest others."""
    calm = largest[largest["concurrent"] == largest["concurrent"].min()]
    busy = calm["core_s"] / (calm["wall_s"] * calm["threads"])
    return _measured(np.clip(busy, 0.01, 1.0), source)


def _largest(seen: pd.DataFrame) -> pd.DataFrame:
    """The tasks on the largest reference."""
    largest: pd.DataFrame = seen[seen["bases"] == seen["bases"].max()]
    return largest


def _words(largest: pd.DataFrame) -> str:
    first = largest.iloc[0]
    size = f"{first['bases'] / 1e6:g} Mb at {first['coverage']:g}x"
    return f"{counted(len(largest), 'task')} on genomes of {size}"


def _core_hours(
    name: str, seen: pd.DataFrame, largest: pd.DataFrame, shipped: Stage, source: str
) -> dict[str, Any]:
    """The core-hours with the range of single tasks; where cost per base grows with the reference, up to the
    cost at a human one."""
    found = _scaled(largest, "core_s", source, READ_BASES / 3600.0)
    growth = _growth(seen)
    if growth is not None and growth > 0:
        times = (HUMAN_BASES / float(largest["bases"].iloc[0])) ** growth
        found["high"] = max(found["high"], found["value"] * times)
    if name == ALIGN:
        found["source"] += f"; {LOWER_BOUND}"
        if (
            growth is None and shipped.core_hours is not None
        ):  # no curve: nothing bounds it from above
            found["high"] = max(found["high"], shipped.core_hours.high)
    return found


def _growth(seen: pd.DataFrame) -> float | None:
    """Exponent of the cost per base over the size of the reference; None with fewer than 3 sizes."""
    cost = (seen["core_s"] / seen["read_bases"]).groupby(seen["bases"]).median()
    if len(cost) < SIZES:
        return None
    slope, _ = np.polyfit(np.log(cost.index.to_numpy(float)), np.log(cost.to_numpy(float)), 1)
    return float(slope)


def _ram_gib(name: str, seen: pd.DataFrame, shipped: Stage, source: str) -> dict[str, Any]:
    """Memory of one task of the plan, which has as many threads as `shipped`: an aligner holds the index of
    the reference and batches of reads, sorting fills its memory; a caller streams."""
    most, threads = float(seen["peak_kib"].max()) / 2**20, shipped.cores_per_task
    if name == ALIGN:
        largest = _largest(seen)
        reads_gib = largest["peak_kib"] / 2**20 - INDEX_BYTES * largest["bases"] / 2**30
        # a task with less to read than its batches hold has not filled them
        room = largest["threads"] * BATCH_BASES
        filled = (largest["bases"] * largest["coverage"] / room).clip(upper=1.0)
        of_thread_gib = float((reads_gib / filled / largest["threads"]).max())
        value = INDEX_BYTES * HUMAN_BASES / 2**30 + threads * of_thread_gib
        words = f"{source}; batches of reads of {threads} threads, and a human genome's index"
        return _value(min(most, value), value, value * MARGIN, "calculated", words)
    if name == SORT:
        full = max(most, SORT_MIB * threads / 1024.0)
        return _value(most, full, full * MARGIN, "calculated", f"{source}; with all its memory")
    return _value(most, most, most * MARGIN, "measured", source)


def _scaled(rows: pd.DataFrame, column: str, source: str, factor: float) -> dict[str, Any]:
    return _measured(rows[column] / rows["read_bases"] * factor, source)


def _measured(values: Sequence[float] | pd.Series, source: str) -> dict[str, Any]:
    """The median with the range of the middle 90 %; with fewer than 3, plus or minus a quarter."""
    low, middle, high = (float(one) for one in np.quantile(values, QUANTILES))
    if len(values) < FEW:
        low, high = middle / MARGIN, middle * MARGIN
    return _value(low, middle, high, "measured", source)


def _value(low: float, value: float, high: float, tag: str, source: str) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, "tag": tag, "source": source}
