"""A record without one of its columns never leads to a smaller purchase in silence."""

# ruff: noqa: E501  lines of records
from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from density_study.analysis.capacity.inputs.profile import Profile
from density_study.analysis.capacity.traces.profiled import profile_of
from density_study.analysis.capacity.traces.readers import read_traces
from density_study.cluster.model.errors import InputError

WILD = Path(__file__).parents[4] / "samples" / "wild" / "traces"
SACCT = """JobID|JobName|State|Submit|Start|End|ElapsedRaw|Elapsed|AllocCPUS|NNodes|NTasks|TotalCPU|ReqMem|MaxRSS|MaxDiskRead|MaxDiskWrite
7|ALIGN|FAILED|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|3600|01:00:00|8|2||06:00:00|4Gn|||
7.0|srun|FAILED|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|3600|01:00:00|8|2|2|06:00:00||5242880K|10G|1G
8|ALIGN|COMPLETED|2026-01-01T01:00:00|2026-01-01T01:00:00|2026-01-01T03:00:00|7200|02:00:00|8|2||12:00:00|4Gn|||
8.0|srun|COMPLETED|2026-01-01T01:00:00|2026-01-01T01:00:00|2026-01-01T03:00:00|7200|02:00:00|8|2|2|12:00:00||5242880K|20G|2G
9|SORT|COMPLETED|2026-01-01T03:00:00|2026-01-01T03:00:00|2026-01-01T04:00:00|3600|01:00:00|4|1||01:00:00|2Gc|||
9.0|srun|COMPLETED|2026-01-01T03:00:00|2026-01-01T03:00:00|2026-01-01T04:00:00|3600|01:00:00|4|1|1|01:00:00||1048576K|20G|2G
"""
NEXTFLOW = """task_id|name|status|submit|duration|realtime|%cpu|cpus|memory|peak_rss|rchar|wchar|read_bytes|write_bytes|complete
1|ALIGN (s1)|FAILED|2026-01-01 00:00:00|1h|1h|600%|8|16 GB|9 GB|10 GB|10 GB|9 GB|9 GB|2026-01-01 01:00:00
2|ALIGN (s1)|COMPLETED|2026-01-01 01:00:00|2h|2h|600%|8|16 GB|9 GB|10 GB|10 GB|9 GB|9 GB|2026-01-01 03:00:00
3|SORT (s1)|COMPLETED|2026-01-01 03:00:00|1h|1h|100%|4|4 GB|2 GB|10 GB|10 GB|9 GB|9 GB|2026-01-01 04:00:00
4|CALL (s1)|COMPLETED|2026-01-01 04:00:00|1h|1h|100%|4|4 GB|2 GB|10 GB|10 GB|9 GB|9 GB|2026-01-01 05:00:00
"""
GALAXY = """id|tool_id|state|create_time|history_id|galaxy_slots|galaxy_memory_mb|runtime_seconds|end_epoch|cpu.stat.usage_usec|memory.peak
1|align|error|2026-01-01 00:00:00|s1|8|16384|3600|1767229200|21600000000|4294967296
2|align|ok|2026-01-01 01:00:00|s1|8|16384|7200|1767236400|43200000000|8589934592
3|sort|ok|2026-01-01 03:00:00|s1|4|4096|3600|1767240000|3600000000|2147483648
"""
MANIFEST = """arn|name|status|creationTime|startTime|stopTime|cpus|memory|gpus|cpusReserved|cpusAverage|memoryReservedGiB|memoryMaximumGiB|runningSeconds
arn:aws:omics:x:1:task/1|ALIGN-0-s1|FAILED|2026-01-01T00:00:00Z|2026-01-01T00:00:00Z|2026-01-01T01:00:00Z|7|14|0|8|6|16|9|3600
arn:aws:omics:x:1:task/2|ALIGN-0-s1|COMPLETED|2026-01-01T01:00:00Z|2026-01-01T01:00:00Z|2026-01-01T03:00:00Z|7|14|0|8|6|16|9|7200
arn:aws:omics:x:1:task/3|SORT|COMPLETED|2026-01-01T03:00:00Z|2026-01-01T03:00:00Z|2026-01-01T04:00:00Z|3|4|0|4|1|8|2|3600
"""
TABLES = {"sacct": SACCT, "nextflow": NEXTFLOW.replace("|", "\t"), "galaxy": GALAXY.replace("|", "\t"),
          "healthomics": MANIFEST.replace("|", ",")} | {
    path.name: path.read_text()
    for path in sorted(WILD.iterdir())
    if path.suffix in (".txt", ".tsv", ".csv")
}  # fmt: skip
MARKS = "\t|,^"
ROUNDED = "TRESUsageInTot"
"""In its place another column counts, MaxDiskRead, which has the same amount, rounded."""
DOCUMENTS = [path for path in sorted(WILD.iterdir()) if path.suffix in (".json", ".jsonl", ".log")]


def read(path: Path, data: str) -> Profile | None:
    path.write_text(data)
    try:
        return profile_of(read_traces([path]), 1, "x", "x")
    except InputError as error:
        assert error.remedy
        return None


def needs(profile: Profile) -> dict[str, float]:
    """What decides a purchase: occupied core-hours, memory, I/O, and the longest path."""
    found = {"core-hours": 0.0, "GiB": 0.0, "hdfs_read": 0.0, "hdfs_write": 0.0}
    ends: dict[str, float] = {}
    for stage in profile.stages:
        share = stage.cpu_efficiency.value if stage.cpu_efficiency else 1.0
        occupied = stage.core_hours.value / share if stage.core_hours else 0.0
        found["core-hours"] += occupied
        found["GiB"] += (stage.ram_gib.value if stage.ram_gib else 0.0) * stage.tasks
        for name, demand in stage.demands.items():
            found[name] += demand.value
        start = max((ends[one] for one in stage.after), default=0.0)
        ends[stage.name] = start + occupied / stage.tasks / stage.cores_per_task
    return found | {"path, h": max(ends.values())}


def check(whole: Profile, less: Profile | None, dropped: str) -> None:
    if less is None:  # refused
        return
    before, after = needs(whole), needs(less)
    tolerance = 1e-4 if dropped == ROUNDED else 1e-9
    smaller = {name for name in before if after[name] < before[name] * (1 - tolerance)}
    told = {*whole.left_out(), *whole.notes} != {*less.left_out(), *less.notes}
    assert told or not smaller, f"without {dropped}: {before} became {after}"


@pytest.mark.parametrize("name", TABLES)
def test_a_table_without_a_column(tmp_path: Path, name: str) -> None:
    text = TABLES[name]
    mark = max(MARKS, key=text.partition("\n")[0].count)
    whole = read(tmp_path / name, text)
    if whole is None:
        return
    rows = list(csv.reader(StringIO(text), delimiter=mark, quoting=csv.QUOTE_NONE))
    for place, column in enumerate(rows[0]):
        kept = "\n".join(mark.join(row[:place] + row[place + 1 :]) for row in rows)
        check(whole, read(tmp_path / name, kept + "\n"), column)


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    for one in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from keys(one)


def without(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return {name: without(one, key) for name, one in value.items() if name != key}
    return [without(one, key) for one in value] if isinstance(value, list) else value


@pytest.mark.thorough
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.slow if number % 4 else (), id=path.name)
        for number, path in enumerate(DOCUMENTS)
    ],
)
def test_a_document_without_a_key(tmp_path: Path, path: Path) -> None:
    text = path.read_text()
    parts = [text] if path.suffix == ".json" else text.splitlines()
    documents = [json.loads(part) for part in parts if part]
    whole = read(tmp_path / path.name, text)
    if whole is None:
        return
    for key in sorted(set(keys(documents)) - {"subWorkflowMetadata", "calls", "Event"}):
        less = "\n".join(json.dumps(without(one, key)) for one in documents)
        check(whole, read(tmp_path / path.name, less), key)
