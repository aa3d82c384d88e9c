"""The run manifest of AWS HealthOmics (CloudWatch log stream `manifest/run/ID/UUID`).

JSON lines as the log has them, the answer of `aws logs get-log-events` or of `aws omics list-run-tasks`, or
the list that `omics-run-analyzer --show` prints. Reserved, average and largest CPUs and GiB of each task
(HealthOmics user guide, "Run manifest logs").
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from density_study.analysis.capacity.traces.amounts import cpus, epoch_s, known, number
from density_study.analysis.capacity.traces.source import Source
from density_study.analysis.capacity.traces.task import Outcome, Record, Task

OUTCOMES: dict[str, Outcome] = {"COMPLETED": "done", "SUCCESS": "done", "FAILED": "lost",
                                "CANCELLED": "lost"}  # fmt: skip
LISTS = ("events", "items")  # keys of an answer that hold its entries
SCATTER = re.compile(r"(?P<process>.+?)-\d+-(?P<tag>\d+)")  # of WDL: foo-01-000
TAGGED = re.compile(r"(?P<process>[^(]*[^(\s])\s*\((?P<tag>.*)\)")  # of Nextflow: BWA (s1)


def read(source: Source) -> Record:
    """InputError, with the line, if an entry is not one of a manifest."""
    tasks = []
    for line, entry in _entries(source):
        if not isinstance(entry, dict):
            source.refuse("the entry is not a JSON object.", "export the log stream again.", line)
        if not _is_task(entry):
            continue
        try:
            tasks.append(_task(entry))
        except (ValueError, OverflowError, TypeError) as error:
            source.refuse(
                f"the entry cannot be parsed: {error}.", "export the log stream again.", line
            )
    return Record(tuple(tasks))


def _entries(source: Source) -> Iterator[tuple[int, Any]]:
    first, more, _ = source.start.partition(b"\n")
    if more and not _is_whole(first):  # a document over several lines
        values = iter([(1, source.document())])
    else:
        values = ((line, source.value(text, line)) for line, text in source.lines())
    for line, value in values:
        inner = [value.get(key) for key in LISTS] if isinstance(value, dict) else [value]
        lists = [one for one in inner if isinstance(one, list)]
        for place, entry in enumerate(lists[0] if lists else [value], start=line):
            yield place, _message(source, place, entry)


def _is_whole(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _message(source: Source, line: int, event: object) -> object:
    """An event of CloudWatch has the entry as text."""
    if isinstance(event, dict) and isinstance(event.get("message"), str):
        return source.value(event["message"], line)
    return event


def _is_task(entry: Mapping[str, Any]) -> bool:
    """A manifest describes the run, too."""
    arn = str(entry.get("arn", ""))
    return (
        ":task/" in arn if arn else "name" in entry and {"cpus", "memory"} & entry.keys() != set()
    )


def _metrics(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    found = entry.get("metrics")
    return found if isinstance(found, dict) else {}


def _task(entry: Mapping[str, Any]) -> Task:
    metrics = _metrics(entry)
    status = str(entry.get("status", "COMPLETED" if entry.get("stopTime") else "RUNNING"))
    outcome = OUTCOMES.get(status, "running")
    if entry.get("cacheHit") is True and outcome == "done":
        outcome, status = "reused", "taken from the cache"
    name = str(known(entry.get("name")) or "task")
    match = TAGGED.fullmatch(name) or SCATTER.fullmatch(name)
    # the manifest has an arn that ends in the id, list-run-tasks the id
    of_task = known(str(entry.get("arn") or entry.get("taskId") or "").rpartition("/")[2])
    start_s, end_s = epoch_s(entry.get("startTime")), epoch_s(entry.get("stopTime"))
    realtime_s = number(metrics.get("runningSeconds"))
    if realtime_s is None and start_s is not None and end_s is not None:
        realtime_s = max(0.0, end_s - start_s)
    mean_cores = number(metrics.get("cpusAverage"))
    reserved = metrics.get("cpusReserved")
    gib = number(metrics.get("memoryReservedGiB")) or number(entry.get("memory"))
    used_gib = number(metrics.get("memoryMaximumGiB"))
    return Task(
        process=match["process"] if match else name,
        tag=match["tag"] if match else "",
        outcome=outcome,
        status=status,
        realtime_s=None if outcome == "reused" else realtime_s,
        cpu_s=None if mean_cores is None or realtime_s is None else mean_cores * realtime_s,
        cpus=cpus(entry.get("cpus") if reserved is None else reserved),
        rss_mib=used_gib * 1024 if used_gib else None,
        requested_mib=gib * 1024 if gib else None,
        submit_s=epoch_s(entry.get("creationTime")) or start_s,
        end_s=end_s,
        id=f"{of_task} {name}" if of_task else None,
        uses_gpus=bool(number(metrics.get("gpusReserved")) or number(entry.get("gpus"))),
    )
