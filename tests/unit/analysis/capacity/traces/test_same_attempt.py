"""Rows of one attempt in several records, by format; and rows that only look alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from tests.unit.analysis.capacity.traces.records import (
    END,
    STAGE,
    TASK,
    environment,
    event,
    hours,
    nextflow,
    profile_from,
    sacct,
)

LEFT_OUT = "left out: another row has the same attempt"


def spark(application: str, attempt: str, *tasks: int) -> str:
    start = event("ApplicationStart", **{"App ID": application, "App Attempt ID": attempt})
    events = [TASK.replace("{}", json.dumps({"Task ID": one, "Attempt": 0}), 1) for one in tasks]
    return event("LogStart") + start + environment() + STAGE + "".join(events) + END


def cromwell() -> str:
    call = {"executionStatus": "Done", "runtimeAttributes": {"cpu": 4, "memory": "16 GB"},
            "start": "2026-01-01T00:00:00Z", "end": "2026-01-01T01:00:00Z"}  # fmt: skip
    calls = [
        {**call, "shardIndex": 0, "stdout": "/x/shard-0/stdout"},
        {**call, "shardIndex": 1, "stdout": "/y/stdout", "callCaching": {"hit": True}},
        {**call, "shardIndex": 2, "stdout": "/y/stdout", "callCaching": {"hit": True}},
    ]  # a cache hit may refer to the files of the call that it copies
    return json.dumps({"workflowName": "w", "submittedFiles": {}, "calls": {"w.a": calls}})


def table(tool: str, runtime_s: int, created: str = "") -> str:
    head = "id\ttool_id\tstate\tgalaxy_slots\truntime_seconds\tcreate_time"
    return f"{head}\n1\t{tool}\tok\t8\t{runtime_s}\t{created}\n"


TIMES = {"creationTime": "2026-01-01T00:00:00.123456Z", "startTime": "2026-01-01T00:00:00Z",
         "stopTime": "2026-01-01T01:00:00Z", "status": "COMPLETED"}  # fmt: skip
MANIFEST = json.dumps(
    {"arn": "arn:aws:omics:us-east-1:1:task/7", "name": "A", "cpus": 4, **TIMES,
     "creationTime": "2026-01-01T00:00:00.123", "metrics": {"cpusAverage": 2, "runningSeconds": 3600}}
)  # fmt: skip
LISTED = json.dumps({"items": [{"taskId": "7", "name": "A", "cpus": 4, **TIMES}]}, indent=1)
RUNNING, FAILED = (
    sacct(f"7|A|{state}|2026-01-01T00:00:00|2026-01-01T05:00:00|{elapsed_s}|2|{cpu}")
    for state, elapsed_s, cpu in (("RUNNING", 60, "00:00:00"), ("FAILED", 3600, "02:00:00"))
)
APP = "application_1_0001"
ONE = {
    "a hit of Cromwell's cache": ({"1": cromwell(), "2": cromwell()}, {"a": (12.0, 3)}, 3),
    "a log of Spark": ({"1": spark(APP, "1", 0, 1), "2": spark(APP, "1", 0, 1)}, {"a-0": (1.0, 2)}, 2),
    "HealthOmics, the manifest first": ({"1": MANIFEST, "2": LISTED}, {"a": (2.0, 1)}, 1),
    "HealthOmics, the list first": ({"1": LISTED, "2": MANIFEST}, {"a": (2.0, 1)}, 1),
    "it ran in the first export": ({"1": RUNNING, "2": FAILED}, {"a": (2.0, 1)}, 1),
    "it ran in the second export": ({"1": FAILED, "2": RUNNING}, {"a": (2.0, 1)}, 1),
    "a table of Galaxy": ({"1": table("bwa", 3600), "2": table("bwa", 3600)}, {"bwa": (8.0, 1)}, 1),
}  # fmt: skip
SEVERAL = {
    "attempts of an application": (
        {"1": spark(APP, "1", 0), "2": spark(APP, "2", 0)}, {"a-0": (1.0, 2)}),
    "applications": (
        {"1": spark(APP, "1", 0), "2": spark("application_1_0002", "1", 0)}, {"a-0": (1.0, 2)}),
    "two servers of Galaxy, two tools": (
        {"1": table("bwa", 3600), "2": table("sort", 3600)}, {"bwa": (8.0, 1), "sort": (8.0, 1)}),
    "two servers of Galaxy, one tool": (
        {"1": table("bwa", 3600), "2": table("bwa", 7200)}, {"bwa": (24.0, 2)}),
    "two servers of Galaxy, by time": (
        {"1": table("bwa", 3600, "2026-01-01T00:00:00"), "2": table("bwa", 3600, "2026-01-02T00:00:00")},
        {"bwa": (16.0, 2)}),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE)
def test_an_attempt_in_two_records_is_one(tmp_path: Path, name: str) -> None:
    files, found, left_out = ONE[name]
    profile = profile_from(tmp_path, files)
    assert hours(profile) == found
    assert [int(line.split()[0]) for line in profile.notes if LEFT_OUT in line] == [left_out]
    assert not [line for line in profile.left_out() if "had not ended" in line]


@pytest.mark.parametrize("name", SEVERAL)
def test_attempts_that_look_alike_are_several(tmp_path: Path, name: str) -> None:
    files, found = SEVERAL[name]
    profile = profile_from(tmp_path, files)
    assert hours(profile) == found
    assert not [line for line in profile.notes if LEFT_OUT in line]


def trace(submit: str | None) -> str:
    head, row = "hash|name|status|realtime|%cpu", "aa/1|A (1)|CACHED|1h|100%"
    return (
        nextflow(row, head=head)
        if submit is None
        else nextflow(f"{row}|{submit}", head=f"{head}|submit")
    )


LOCAL, RAW, ZONED = "2026-01-01 00:00:00.000", "1767222000000", "2026-01-01T00:00:00.000+01:00"


@pytest.mark.parametrize(
    ("first", "second", "count", "told"),
    [
        (LOCAL, LOCAL, 1, False),
        (RAW, RAW, 1, False),
        (RAW, ZONED, 1, False),
        (LOCAL, RAW, 2, True),
        (RAW, None, 2, True),
        (None, LOCAL, 2, True),
        (LOCAL, "2026-01-01 00:00:01.000", 2, False),
    ],
)
def test_times_of_submission_in_two_forms_are_not_compared(
    tmp_path: Path, first: str | None, second: str | None, count: int, told: bool
) -> None:
    """A trace with trace.raw has them since 1970, and one without in the time of the place."""
    profile = profile_from(tmp_path, {"1": trace(first), "2": trace(second)})
    assert hours(profile) == {"a": (float(count), count)}
    said = [line for line in profile.left_out() if "1 row may have an attempt" in line]
    assert bool(said) == told


def resumed(status: str, native: str | None, submit: str | None) -> str:
    columns = {"hash": "aa/1", "native_id": native, "name": "A (1)", "status": status, "realtime": "1h",
               "%cpu": "100%", "submit": submit}  # fmt: skip
    kept = {name: cell for name, cell in columns.items() if cell is not None}
    return nextflow("|".join(kept.values()), head="|".join(kept))


@pytest.mark.parametrize(
    ("first", "second", "count", "told"),
    [
        (("COMPLETED", None, LOCAL), ("CACHED", None, None), 1, False),
        (("COMPLETED", None, None), ("CACHED", None, RAW), 1, False),
        (("CACHED", "7", LOCAL), ("COMPLETED", None, RAW), 1, False),
        (("COMPLETED", "7", LOCAL), ("COMPLETED", "7", None), 1, False),
        (("FAILED", "7", RAW), ("FAILED", "7", LOCAL), 1, False),
        (("COMPLETED", "7", LOCAL), ("COMPLETED", "8", None), 2, True),
        (("COMPLETED", "7", LOCAL), ("CACHED", "8", None), 2, True),
        (("COMPLETED", None, LOCAL), ("COMPLETED", None, None), 2, True),
        (("FAILED", None, LOCAL), ("CACHED", None, None), 2, False),
    ],
)
def test_a_task_of_a_run_that_was_resumed_is_one_whatever_its_time_of_submission(
    tmp_path: Path,
    first: tuple[str, str | None, str | None],
    second: tuple[str, str | None, str | None],
    count: int,
    told: bool,
) -> None:
    """A cached row is a copy of the one of the run that did the work; the executor numbers its tasks."""
    profile = profile_from(tmp_path, {"1": resumed(*first), "2": resumed(*second)})
    assert sum(spent for spent, _ in hours(profile).values()) == count
    said = [line for line in profile.left_out() if "1 row may have an attempt" in line]
    assert bool(said) == told


def test_as_many_cached_rows_are_copies_as_there_are_others(tmp_path: Path) -> None:
    """Ids that were made anonymous may all be equal."""
    head, row = "hash|name|status|realtime|%cpu", "x|A (1)|{}|1h|100%"
    done = [f"{row.format('COMPLETED')}|2026-01-01 0{n}:00:00.000" for n in range(2)]
    cached = [f"{row.format('CACHED')}|{1767222000000 + n * 3600000}" for n in range(3)]
    files = {
        name: nextflow(*rows, head=f"{head}|submit") for name, rows in (("1", done), ("2", cached))
    }
    assert hours(profile_from(tmp_path, files)) == {"a": (3.0, 3)}


@pytest.mark.parametrize(
    ("text", "words", "remedy"),
    [
        (table("bwa", 1).replace("ok", ""), "job_id, tool_id and state are needed", "export them"),
        (table("", 1), "job_id, tool_id and state are needed", "export them"),
        (table("bwa", 1).partition("\n")[0] + "\n", "a header and no job", "export the rows"),
    ],
    ids=["no state", "no tool", "no rows"],
)
def test_a_table_of_galaxy_that_lacks_something_says_what(
    tmp_path: Path, text: str, words: str, remedy: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        profile_from(tmp_path, {"jobs": text})
    assert remedy in caught.value.remedy
