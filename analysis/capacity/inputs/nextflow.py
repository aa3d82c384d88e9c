"""Nextflow's trace.txt as a profile: what the pipeline used, by process.

Tab-separated; durations as `1h 2m 3s` or milliseconds, sizes as `1.2 GB` (of 1024) or bytes, `-` where
nothing is known. A process is a stage; it comes after the process of the same sample that ended last
before it was submitted. What a trace does not say (storage, queries, peak) is wgs30x's, with its tags.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from density_study.analysis.capacity.inputs.points import grouped
from density_study.analysis.capacity.inputs.profile import Profile, read_profile
from density_study.cluster.model.errors import InputError
from density_study.cluster.state.atomic import write_text

NEEDED = ("name", "status", "realtime", "%cpu")
DONE = ("COMPLETED", "CACHED")  # CACHED: done by an earlier run that was resumed
DURATION_S = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3}
SIZE_MIB = {"B": 2.0**-20, "KB": 2.0**-10, "MB": 1.0, "GB": 2.0**10, "TB": 2.0**20}
NAME = re.compile(r"(?P<process>[^(]+?)\s*(?:\((?P<tag>.*)\))?")
FEW = 3
MARGIN = 1.25  # range of a number with fewer than 3 observations: plus or minus a quarter


@dataclass(frozen=True)
class Task:
    """One line of a trace. None: not in the trace."""

    process: str
    tag: str
    realtime_s: float
    cpu_cores: float
    cpus: int
    rss_mib: float | None
    read_mib: float | None
    write_mib: float | None
    submit_s: float | None
    end_s: float | None


def parse_trace(text: str, where: str) -> tuple[Task, ...]:
    """The completed tasks. InputError, with the line, if the text is not a trace."""
    rows = csv.DictReader(StringIO(text), delimiter="\t")
    missing = [name for name in NEEDED if name not in (rows.fieldnames or ())]
    if missing:
        raise InputError(
            f"the field {missing[0]!r} is missing.",
            where,
            "trace with fields name, status, realtime, %cpu, peak_rss, rchar, wchar at least.",
        )
    tasks = []
    for row in rows:
        if row["status"] in DONE and row["realtime"] not in ("-", "", None):
            try:
                tasks.append(_task(row))
            except (ValueError, KeyError) as error:
                raise InputError(
                    f"the line cannot be parsed: {error}.",
                    f"{where}, line {rows.line_num}",
                    "give the file as Nextflow wrote it.",
                ) from error
    if not tasks:
        raise InputError(
            "no task of the trace was completed.", where, "give a trace of a whole run."
        )
    return tuple(tasks)


def _task(row: Mapping[str, Any]) -> Task:
    match = NAME.fullmatch(row["name"].strip())
    if match is None:
        raise ValueError(f"name {row['name']!r}")
    realtime_s = _duration_s(row["realtime"])
    # 100 % is one busy core
    cores = float(row["%cpu"].rstrip("%") or "nan") / 100 if row["%cpu"] != "-" else 1.0
    given = row.get("cpus") or "-"
    submit_s = _epoch_s(row.get("submit"))
    duration = row.get("duration") or "-"
    end_s = None if submit_s is None or duration == "-" else submit_s + _duration_s(duration)
    return Task(
        process=match["process"].split(":")[-1],
        tag=match["tag"] or "",
        realtime_s=realtime_s,
        cpu_cores=cores,
        cpus=int(given) if given != "-" else max(1, math.ceil(cores - 0.1)),
        rss_mib=_mib(row.get("peak_rss")),
        # read_bytes came from a disk; rchar counts reads from the page cache, too (proc(5))
        read_mib=_mib(row.get("read_bytes") or row.get("rchar")),
        write_mib=_mib(row.get("write_bytes") or row.get("wchar")),
        submit_s=submit_s,
        end_s=end_s,
    )


def _duration_s(text: str) -> float:
    if re.fullmatch(r"\d+", text.strip()):
        return float(text) / 1e3
    parts = re.findall(r"([0-9.]+)\s*(ms|[dhms])", text)
    if not parts or re.sub(r"[0-9.]+\s*(ms|[dhms])|\s", "", text):
        raise ValueError(f"duration {text!r}")
    return sum(float(value) * DURATION_S[unit] for value, unit in parts)


def _mib(text: str | None) -> float | None:
    if text is None or text.strip() in ("", "-"):
        return None
    match = re.fullmatch(r"([0-9.]+)\s*([KMGT]?B)?", text.strip())
    if match is None:
        raise ValueError(f"size {text!r}")
    return float(match[1]) * SIZE_MIB[match[2] or "B"]


def _epoch_s(text: str | None) -> float | None:
    if text is None or text.strip() in ("", "-"):
        return None
    if text.strip().isdigit():
        return float(text) / 1e3
    return datetime.fromisoformat(text.strip()).timestamp()


def profile_of(tasks: Sequence[Task], genomes: int, name: str, source: str) -> Profile:
    """InputError unless genomes is 1 or more."""
    if genomes < 1:
        raise InputError(f"the number of genomes is {genomes}.", "--genomes", "give at least 1.")
    by_process = grouped(tasks, lambda task: task.process)
    order = sorted(by_process, key=lambda process: _first(by_process[process]))
    stages = [
        {
            "name": _stage_name(process),
            "after": [_stage_name(one) for one in _after(by_process, process, order[:place])],
            **_numbers(by_process[process], genomes, source),
        }
        for place, process in enumerate(order)
    ]
    base = read_profile("wgs30x").model_dump(mode="json")
    return Profile.model_validate(
        {**base, "profile": name, "about": f"measured by Nextflow: {source}", "stages": stages}
    )


def _stage_name(process: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", process.lower()).strip("-")


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


def _numbers(tasks: Sequence[Task], genomes: int, source: str) -> dict[str, Any]:
    cpu_s = [task.realtime_s * task.cpu_cores for task in tasks]
    # ratio of sums, not a mean of ratios: a short task counts as much as it occupies its cores
    share = sum(cpu_s) / sum(task.realtime_s * task.cpus for task in tasks)
    found: dict[str, Any] = {
        "core_hours": _ranged(cpu_s, sum(cpu_s) / 3600 / genomes, source),
        "cpu_efficiency": _fixed(min(1.0, max(0.01, share)), source),
        "tasks": max(1, round(len(tasks) / genomes)),
        "cores_per_task": max(task.cpus for task in tasks),
        "demands": {},
    }
    memory = [task.rss_mib / 1024 for task in tasks if task.rss_mib]
    if memory:
        # the largest task decides what fits into a VM
        found["ram_gib"] = {**_fixed(max(memory), source), "low": min(memory)}
    read = [task.read_mib for task in tasks if task.read_mib]
    written = [task.write_mib for task in tasks if task.write_mib]
    for resource, amounts in (("hdfs_read", read), ("hdfs_write", written)):
        if amounts:
            found["demands"][resource] = _ranged(amounts, sum(amounts) / genomes, source)
    return found


def _ranged(seen: Sequence[float], total: float, source: str) -> dict[str, Any]:
    """`total` with the relative range of single tasks."""
    if len(seen) < FEW or min(seen) <= 0:
        return {**_fixed(total, source), "low": total / MARGIN, "high": total * MARGIN}
    low, middle, high = np.quantile(seen, (0.05, 0.5, 0.95)) / np.mean(seen)
    return {
        **_fixed(total, source),
        "low": float(total * min(1.0, low / middle)),
        "high": float(total * max(1.0, high / middle)),
    }


def _fixed(value: float, source: str) -> dict[str, Any]:
    value = float(value)
    return {"value": value, "low": value, "high": value, "tag": "measured", "source": source}


def write_profile(trace: Path, genomes: int, output: Path) -> int:
    """Read a trace and write its profile as YAML. Returns the number of stages."""
    try:
        text = trace.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the trace cannot be read: {error}.", str(trace), "name a trace.txt."
        ) from error
    profile = profile_of(parse_trace(text, str(trace)), genomes, output.stem, trace.name)
    write_text(output, yaml.safe_dump(profile.model_dump(mode="json"), sort_keys=False))
    return len(profile.stages)
