"""A MapReduce job's history file (`.jhist`, format "json"): when the job and its attempts ran.

Source: `org.apache.hadoop.mapreduce.jobhistory.EventWriter` and `Events.avpr` of Hadoop 3.4. Line 1 is
`Avro-Json`, then the schema, then events in Avro's JSON encoding. Hadoop's own default is binary: set
`mapreduce.jobhistory.jhist.format=json`. Times are in milliseconds by the ApplicationMaster's clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from density_study.workloads.base.parsing import (
    LONG_MAX,
    Ledger,
    Line,
    Parsed,
    RejectedError,
    json_object,
)

PACKAGE = "org.apache.hadoop.mapreduce.jobhistory."
_KNOWN_AND_UNUSED = frozenset(
    {
        *("JOB_PRIORITY_CHANGED", "JOB_STATUS_CHANGED", "JOB_QUEUE_CHANGED", "JOB_INFO_CHANGED"),
        *("TASK_STARTED", "TASK_FINISHED", "TASK_FAILED", "TASK_UPDATED"),
        *("NORMALIZED_RESOURCE", "AM_STARTED"),
        *(f"SETUP_ATTEMPT_{end}" for end in ("STARTED", "FINISHED", "FAILED", "KILLED")),
        *(f"CLEANUP_ATTEMPT_{end}" for end in ("STARTED", "FINISHED", "FAILED", "KILLED")),
    }
)


@dataclass(frozen=True)
class Attempt:
    """One attempt of a task. `finish_epoch_ms`, `status` and `host` are None if its end is not recorded.

    status: SUCCEEDED, FAILED or KILLED. host: that of the NodeManager, as YARN names it. last_words: the
    attempt's last words; TestDFSIO's maps name their file.
    """

    attempt_id: str
    task_id: str
    kind: Literal["map", "reduce"]
    start_epoch_ms: int
    finish_epoch_ms: int | None = None
    status: str | None = None
    host: str | None = None
    last_words: str = ""


@dataclass(frozen=True)
class JobHistory:
    """One job. `problems` are reasons why the file may be incomplete; without any, it is whole and agrees
    with the job's own counts.

    status: SUCCEEDED, FAILED, KILLED, ...; None, like finish, if the job's end is not recorded.
    counters: totals at the end of a job that succeeded, by group and name: TaskCounter.SPILLED_RECORDS.
    """

    job_id: str
    name: str
    submit_epoch_ms: int
    launch_epoch_ms: int | None = None
    finish_epoch_ms: int | None = None
    status: str | None = None
    total_maps: int | None = None
    attempts: tuple[Attempt, ...] = ()
    problems: tuple[str, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)

    @property
    def maps(self) -> tuple[Attempt, ...]:
        """Map attempts that succeeded."""
        return tuple(a for a in self.attempts if a.kind == "map" and a.status == "SUCCEEDED")


def parse_history(data: bytes | str, file: str) -> Parsed[JobHistory]:
    """One row, or none if the job's submission is not recorded.

    ParseError: the file does not begin with `Avro-Json` (a binary history is rejected by name).
    """
    ledger = Ledger(data, file)
    _require_json(ledger)
    ledger.skip(ledger.lines[0])
    draft = _Draft()
    used = [line for line in ledger.lines[1:] if _read(ledger, draft, line)]
    damaged = tuple(f"line {q.line}: {q.reason}" for q in ledger.close(()).quarantined)
    if "job_id" not in draft.job:
        ledger.quarantine("no job: its submission is not recorded", *used)
        return ledger.close(())
    ledger.parse(*used)
    return ledger.close((draft.history(damaged),))


def _require_json(ledger: Ledger) -> None:
    first = ledger.lines[0].text if ledger.lines and ledger.lines[0].number == 1 else ""
    if first == "Avro-Binary":
        raise ledger.refuse(
            "binary job history; set mapreduce.jobhistory.jhist.format=json and run again", 1
        )
    if first != "Avro-Json":
        raise ledger.refuse("no job history: line 1 is not 'Avro-Json'", 1)


def _read(ledger: Ledger, draft: _Draft, line: Line) -> bool:
    """Whether the line went into the draft; otherwise its fate is settled.

    An event is one JSON object: a line that parses is whole, with or without a newline.
    """
    ledger.skip(line)  # until it is known whether the file has a row
    try:
        value = json_object(line.text) if line.text.strip() else None
        if value is None or _is_unused(value, line):
            return False
        draft.add(value)
    except RejectedError as error:
        ledger.quarantine(str(error), line)
        return False
    return True


def _is_unused(value: Mapping[str, Any], line: Line) -> bool:
    is_schema = line.number == 2 and set(value) == {"type", "namespace", "name", "fields"}
    return is_schema or str(value.get("type")) in _KNOWN_AND_UNUSED


_Body = Mapping[str, Any]


class _Draft:
    """A job, event by event. Each method raises RejectedError and then changes nothing. `job`: by the fields
    of JobHistory."""

    def __init__(self) -> None:
        self.job: dict[str, Any] = {}
        self._finished_maps: int | None = None
        self._attempts: dict[str, Attempt] = {}

    def add(self, value: Mapping[str, Any]) -> None:
        kind = value.get("type")
        known = _EVENTS.get(kind) if isinstance(kind, str) else None
        if known is None:
            raise RejectedError(f"unknown event {str(kind)[:60]!r}")
        record, read = known
        event = value.get("event")
        body = event.get(PACKAGE + record) if isinstance(event, dict) else None
        if not isinstance(body, dict):
            raise RejectedError(f"{kind} without a {record}")
        read(self, body)

    def submitted(self, body: _Body) -> None:
        if "job_id" in self.job:
            raise RejectedError("second job in one file")
        self.job |= {
            "job_id": _text(body, "jobid"),
            "name": _text(body, "jobName"),
            "submit_epoch_ms": _time_ms(body, "submitTime"),
        }

    def inited(self, body: _Body) -> None:
        self.job |= {
            "launch_epoch_ms": _time_ms(body, "launchTime"),
            "total_maps": _whole(body, "totalMaps"),
        }

    def finished(self, body: _Body) -> None:
        counters = _counters(body)
        self._end(body, "SUCCEEDED")
        self.job["counters"] = counters

    def ended_badly(self, body: _Body) -> None:
        self._end(body, _text(body, "jobStatus"))

    def _end(self, body: _Body, status: str) -> None:
        finish_epoch_ms, maps = _time_ms(body, "finishTime"), _whole(body, "finishedMaps")
        if "status" in self.job:
            raise RejectedError("second end of the job")
        self.job |= {"finish_epoch_ms": finish_epoch_ms, "status": status}
        self._finished_maps = maps

    def attempt_started(self, body: _Body) -> None:
        attempt = Attempt(
            attempt_id=_text(body, "attemptId"),
            task_id=_text(body, "taskid"),
            kind="map" if _text(body, "taskType") == "MAP" else "reduce",
            start_epoch_ms=_time_ms(body, "startTime"),
        )
        if attempt.attempt_id in self._attempts:
            raise RejectedError(f"second start of {attempt.attempt_id}")
        self._attempts[attempt.attempt_id] = attempt

    def attempt_finished(self, body: _Body) -> None:
        started = self._attempts.get(_text(body, "attemptId"))
        if started is None:
            raise RejectedError(f"end of {body['attemptId']}; its start is not recorded")
        if started.status is not None:
            raise RejectedError(f"second end of {started.attempt_id}")
        self._end_attempt(started, body, "SUCCEEDED")

    def attempt_ended_badly(self, body: _Body) -> None:
        """An attempt may be killed before it starts. One that succeeded may be killed afterwards, when its
        node is lost: then it did not succeed."""
        started = self._attempts.get(_text(body, "attemptId"))
        if started is not None:
            self._end_attempt(started, body, _text(body, "status"))

    def _end_attempt(self, started: Attempt, body: _Body, status: str) -> None:
        finish = _time_ms(body, "finishTime")
        if finish < started.start_epoch_ms:
            raise RejectedError(f"{started.attempt_id} ends before it starts")
        host = _text(body, "hostname")
        said = str(body.get("state") or "")
        ended = replace(started, finish_epoch_ms=finish, status=status, host=host, last_words=said)
        self._attempts[started.attempt_id] = ended

    def history(self, damaged: tuple[str, ...]) -> JobHistory:
        """The job; its problems are the damaged lines, and what its own counts contradict."""
        job = JobHistory(**self.job, attempts=tuple(self._attempts.values()))
        seen = len({attempt.task_id for attempt in job.maps})
        contradictions: tuple[str, ...] = ()
        if job.status is None:
            contradictions = ("the job's end is not recorded",)
        elif seen != self._finished_maps:
            contradictions = (
                f"{seen} maps finished, {self._finished_maps} by the job's own count",
            )
        return replace(job, problems=damaged + contradictions)


def _text(body: _Body, key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not value:
        raise RejectedError(f"{key} is not text")
    return value


def _whole(body: _Body, key: str) -> int:
    value = body.get(key)
    if type(value) is not int or not 0 <= value <= LONG_MAX:
        raise RejectedError(f"{key} is not a whole number from 0")
    return value


def _counters(body: _Body) -> dict[str, int]:
    try:
        return {
            f"{group['name'].rpartition('.')[2]}.{one['name']}": int(one["value"])
            for group in body.get("totalCounters", {}).get("groups", ())
            for one in group["counts"]
        }
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise RejectedError("totalCounters are not counters") from None


def _time_ms(body: _Body, key: str) -> int:
    value = _whole(body, key)
    if value == 0:
        raise RejectedError(f"{key} is not set")
    return value


_Reader = Callable[[_Draft, _Body], None]
_JOB_FAILED: tuple[str, _Reader] = ("JobUnsuccessfulCompletion", _Draft.ended_badly)
_FAILED: tuple[str, _Reader] = ("TaskAttemptUnsuccessfulCompletion", _Draft.attempt_ended_badly)
_EVENTS: Mapping[str, tuple[str, _Reader]] = {
    "JOB_SUBMITTED": ("JobSubmitted", _Draft.submitted),
    "JOB_INITED": ("JobInited", _Draft.inited),
    "JOB_FINISHED": ("JobFinished", _Draft.finished),
    **dict.fromkeys(("JOB_FAILED", "JOB_KILLED", "JOB_ERROR"), _JOB_FAILED),
    "MAP_ATTEMPT_STARTED": ("TaskAttemptStarted", _Draft.attempt_started),
    "MAP_ATTEMPT_FINISHED": ("MapAttemptFinished", _Draft.attempt_finished),
    "REDUCE_ATTEMPT_STARTED": ("TaskAttemptStarted", _Draft.attempt_started),
    "REDUCE_ATTEMPT_FINISHED": ("ReduceAttemptFinished", _Draft.attempt_finished),
    **dict.fromkeys(("MAP_ATTEMPT_FAILED", "MAP_ATTEMPT_KILLED"), _FAILED),
    **dict.fromkeys(("REDUCE_ATTEMPT_FAILED", "REDUCE_ATTEMPT_KILLED"), _FAILED),
}
