"""The run manifest of AWS HealthOmics (CloudWatch log stream `manifest/run/ID/UUID`).

JSON lines as the log has them, also with the times that `aws logs tail` and an export to S3 write before
them; CSV of CloudWatch, or with a column for each field; the answers of `aws logs get-log-events` and
`get-query-results`, and of `aws omics list-run-tasks` and `get-run-task`; or the list that
`omics-run-analyzer --show` prints.

A task takes what it requests, as in the other records. Reserved is the instance that HealthOmics rounded that
up to, and counts without a request. (HealthOmics user guide, "Run manifest logs".)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from density_study.analysis.capacity.traces.amounts import between_s, cpus, epoch_s, known, number
from density_study.analysis.capacity.traces.source import Source
from density_study.analysis.capacity.traces.task import Outcome, Record, Task
from density_study.cluster.model.plain import counted
from density_study.cluster.state.plain_file import why_unread

OUTCOMES: dict[str, Outcome] = {"COMPLETED": "done", "SUCCESS": "done", "FAILED": "lost",
                                "CANCELLED": "lost"}  # fmt: skip
ALL = "task"
LISTS = ("events", "items", "results", "tasks")  # keys of an answer that hold its entries
MOST_PREFIX = 1000
# of WDL, whose names have no dash: for each scatter an index, and what tells its items apart (miniwdl,
# runtime/workflow.py): Align-07-0708scattered, Call-0-1
SCATTER = re.compile(r"(?P<process>[A-Za-z]\w*)-(?P<tag>\d+(?:-\w+)*)")
# before a line of a log
LOGGED = re.compile(r"\d{4}-\d\d-\d\d[T ]\S+\s+(?:manifest/run/\S+\s+)?(?=\{)")
TAGGED = re.compile(r"(?P<process>[^(]*[^(\s])\s*\((?P<tag>.*)\)")  # of Nextflow: BWA (s1)


def read(source: Source) -> Record:
    """InputError, with the line, if an entry is not one of a manifest."""
    tasks, rounded = [], 0
    for line, entry in _entries(source):
        if not isinstance(entry, dict):
            source.refuse("the entry is not a JSON object.", "export the log stream again.", line)
        if not _is_task(entry):
            continue
        rounded += (
            known(entry.get("cpus")) is None
            and known(_metrics(entry).get("cpusReserved")) is not None
        )
        try:
            tasks.append(_task(entry))
        except (ValueError, OverflowError, TypeError) as error:
            source.refuse(
                f"the entry cannot be parsed: {why_unread(error)}.",
                "export the log stream again.",
                line,
            )
    nameless = tasks and all(task.process == ALL for task in tasks)
    return Record(
        tuple(tasks),
        ("the record has no names: all tasks are one stage",) if nameless else (),
        (f"no request of {counted(rounded, 'task')}: the instance counts",) if rounded else (),
    )


def _entries(source: Source) -> Iterator[tuple[int, Any]]:
    for line, value in _values(source):
        inner = [value.get(key) for key in LISTS] if isinstance(value, dict) else [value]
        lists = [one for one in inner if isinstance(one, list)]
        for place, entry in enumerate(lists[0] if lists else [value], start=line):
            yield place, _message(source, place, entry)


def _values(source: Source) -> Iterator[tuple[int, Any]]:
    first, more, _ = source.start.partition(b"\n")
    logged = LOGGED.match(first[:MOST_PREFIX].decode("latin-1"))
    if source.start[:1] not in (b"{", b"[") and logged is None:  # CSV of CloudWatch
        for line, row in source.table():
            text = row.get("message") or row.get("@message")
            if not text and "arn" not in row:
                source.refuse("the table has no message.", "export the log stream itself.", line)
            yield line, source.value(text, line) if text else {**row, "metrics": row}
    elif more and logged is None and not _is_whole(first):  # a document over several lines
        yield 1, source.document()
    else:
        for line, text in source.lines():
            before = LOGGED.match(text)
            yield line, source.value(text[before.end() :] if before else text, line)


def _is_whole(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _message(source: Source, line: int, event: object) -> object:
    """An event of CloudWatch has the entry as text; a row of Logs Insights in one of its fields."""
    if isinstance(event, list):
        fields = [one for one in event if isinstance(one, dict)]
        found = [one.get("value") for one in fields if one.get("field") == "@message"]
        event = {"message": found[0]} if found else event
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
    name = str(known(entry.get("name")) or ALL)
    match = TAGGED.fullmatch(name) or SCATTER.fullmatch(name)
    # the manifest has an arn that ends in the id, list-run-tasks the id
    of_task = known(str(entry.get("arn") or entry.get("taskId") or "").rpartition("/")[2])
    start_s, end_s = epoch_s(entry.get("startTime")), epoch_s(entry.get("stopTime"))
    realtime_s = number(metrics.get("runningSeconds"))
    if realtime_s is None:
        realtime_s = between_s(entry.get("startTime"), entry.get("stopTime"))
    mean_cores = number(metrics.get("cpusAverage"))
    requested = cpus(entry.get("cpus"))
    gib = number(entry.get("memory")) or number(metrics.get("memoryReservedGiB"))
    used_gib = number(metrics.get("memoryMaximumGiB"))
    return Task(
        process=match["process"] if match else name,
        tag=match["tag"] if match else "",
        outcome=outcome,
        status=status,
        realtime_s=None if outcome == "reused" else realtime_s,
        cpu_s=None if mean_cores is None or realtime_s is None else mean_cores * realtime_s,
        cpus=cpus(metrics.get("cpusReserved")) if requested is None else requested,
        rss_mib=used_gib * 1024 if used_gib else None,
        requested_mib=gib * 1024 if gib else None,
        submit_s=epoch_s(entry.get("creationTime")) or start_s,
        end_s=end_s,
        id=f"{of_task} {name}" if of_task else None,
        uses_gpus=bool(number(metrics.get("gpusReserved")) or number(entry.get("gpus"))),
    )
