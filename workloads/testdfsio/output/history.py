"""A MapReduce job's history file (`.jhist`, format "json"): when the job and its attempts ran.

Source: `org.apache.hadoop.mapreduce.jobhistory.EventWriter` and `Events.avpr` of Hadoop 3.4. Line 1 is
`Avro-Json`, then the schema, then events in Avro's JSON encoding. Hadoop's own default is binary: set
`mapreduce.jobhistory.jhist.format=json`. Times are the ApplicationMaster's clock, milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from workloads.base.parsing import LONG_MAX, Ledger, Line, Parsed, RejectedError, json_object
from workloads.testdfsio.output.job_history import (
    Attempt,
    JobHistory,
    job_s,
    map_phase_s,
    max_concurrent,
)

__all__ = ["Attempt", "JobHistory", "job_s", "map_phase_s", "max_concurrent", "parse_history"]

_PACKAGE = "org.apache.hadoop.mapreduce.jobhistory."
_KNOWN_AND_UNUSED = frozenset(
    {
        *("JOB_PRIORITY_CHANGED", "JOB_STATUS_CHANGED", "JOB_QUEUE_CHANGED", "JOB_INFO_CHANGED"),
        *("TASK_STARTED", "TASK_FINISHED", "TASK_FAILED", "TASK_UPDATED"),
        *("NORMALIZED_RESOURCE", "AM_STARTED"),
        *(f"SETUP_ATTEMPT_{end}" for end in ("STARTED", "FINISHED", "FAILED", "KILLED")),
        *(f"CLEANUP_ATTEMPT_{end}" for end in ("STARTED", "FINISHED", "FAILED", "KILLED")),
    }
)


def parse_history(data: bytes | str, file: str) -> Parsed[JobHistory]:
    """One row, or none if the job's submission is not recorded.

    ParseError: the file does not begin with `Avro-Json` (binary histories are refused by name).
    """
    ledger = Ledger(data, file)
    _require_json(ledger)
    ledger.skip(ledger.lines[0])
    draft = _Draft()
    used = [line for line in ledger.lines[1:] if _read(ledger, draft, line)]
    damaged = ledger.close(()).quarantined
    job = draft.job(tuple(f"line {q.line}: {q.reason}" for q in damaged))
    if job is None:
        ledger.quarantine("no job: its submission is not recorded", *used)
        return ledger.close(())
    ledger.parse(*used)
    return ledger.close((job,))


def _require_json(ledger: Ledger) -> None:
    first = ledger.lines[0].text if ledger.lines and ledger.lines[0].number == 1 else ""
    if first == "Avro-Binary":
        raise ledger.refuse(
            "binary job history; set mapreduce.jobhistory.jhist.format=json and run again", 1
        )
    if first != "Avro-Json":
        raise ledger.refuse("no job history: line 1 is not 'Avro-Json'", 1)


def _read(ledger: Ledger, draft: _Draft, line: Line) -> bool:
    """Whether the line went into the draft; else its fate is settled.

    An event is one JSON object: a line that parses is whole, with or without a newline.
    """
    try:
        value = json_object(line.text) if line.text.strip() else None
        if value is None or _is_of_no_use(value, line):
            ledger.skip(line)
            return False
        draft.add(value)
    except RejectedError as error:
        ledger.quarantine(str(error), line)
        return False
    ledger.skip(line)  # until it is known whether a row comes of it
    return True


def _is_of_no_use(value: Mapping[str, Any], line: Line) -> bool:
    is_schema = line.number == 2 and set(value) == {"type", "namespace", "name", "fields"}
    return is_schema or str(value.get("type")) in _KNOWN_AND_UNUSED


class _Draft:
    """A job as its events tell it, one by one. Each method raises RejectedError and changes nothing."""

    def __init__(self) -> None:
        self._submitted: _Fields | None = None
        self._launch_epoch_ms: int | None = None
        self._total_maps: int | None = None
        self._finish_epoch_ms: int | None = None
        self._finished_maps: int | None = None
        self._status: str | None = None
        self._attempts: dict[str, Attempt] = {}

    def add(self, value: Mapping[str, Any]) -> None:
        kind = value.get("type")
        known = _EVENTS.get(kind) if isinstance(kind, str) else None
        if known is None:
            raise RejectedError(f"unknown event {str(kind)[:60]!r}")
        record, read = known
        event = value.get("event")
        body = event.get(_PACKAGE + record) if isinstance(event, dict) else None
        if not isinstance(body, dict):
            raise RejectedError(f"{kind} without a {record}")
        read(self, _Fields(body))

    def submitted(self, fields: _Fields) -> None:
        fields.text("jobid"), fields.text("jobName"), fields.time_ms("submitTime")
        if self._submitted is not None:
            raise RejectedError("second job in one file")
        self._submitted = fields

    def inited(self, fields: _Fields) -> None:
        launch, maps = fields.time_ms("launchTime"), fields.whole("totalMaps")
        self._launch_epoch_ms, self._total_maps = launch, maps

    def finished(self, fields: _Fields) -> None:
        finish, maps = fields.time_ms("finishTime"), fields.whole("finishedMaps")
        self._end(finish, maps, "SUCCEEDED")

    def ended_badly(self, fields: _Fields) -> None:
        finish, maps = fields.time_ms("finishTime"), fields.whole("finishedMaps")
        self._end(finish, maps, fields.text("jobStatus"))

    def _end(self, finish_epoch_ms: int, maps: int, status: str) -> None:
        if self._status is not None:
            raise RejectedError("second end of the job")
        self._finish_epoch_ms, self._finished_maps, self._status = finish_epoch_ms, maps, status

    def attempt_started(self, fields: _Fields) -> None:
        attempt = Attempt(
            attempt_id=fields.text("attemptId"),
            task_id=fields.text("taskid"),
            kind="map" if fields.text("taskType") == "MAP" else "reduce",
            start_epoch_ms=fields.time_ms("startTime"),
        )
        if attempt.attempt_id in self._attempts:
            raise RejectedError(f"second start of {attempt.attempt_id}")
        self._attempts[attempt.attempt_id] = attempt

    def attempt_finished(self, fields: _Fields) -> None:
        started = self._attempts.get(fields.text("attemptId"))
        if started is None:
            raise RejectedError(f"end of {fields.text('attemptId')}, whose start is not recorded")
        if started.status is not None:
            raise RejectedError(f"second end of {started.attempt_id}")
        self._end_attempt(started, fields, "SUCCEEDED")

    def attempt_ended_badly(self, fields: _Fields) -> None:
        """An attempt may be killed before it starts; one that succeeded may be killed after (its
        node was lost): then it did not succeed."""
        started = self._attempts.get(fields.text("attemptId"))
        if started is not None:
            self._end_attempt(started, fields, fields.text("status"))

    def _end_attempt(self, started: Attempt, fields: _Fields, status: str) -> None:
        finish = fields.time_ms("finishTime")
        if finish < started.start_epoch_ms:
            raise RejectedError(f"{started.attempt_id} ends before it starts")
        self._attempts[started.attempt_id] = replace(
            started,
            finish_epoch_ms=finish,
            status=status,
            host=fields.text("hostname"),
            port=fields.port(),
        )

    def job(self, damaged: tuple[str, ...]) -> JobHistory | None:
        if self._submitted is None:
            return None
        job = JobHistory(
            job_id=self._submitted.text("jobid"),
            name=self._submitted.text("jobName"),
            submit_epoch_ms=self._submitted.time_ms("submitTime"),
            launch_epoch_ms=self._launch_epoch_ms,
            finish_epoch_ms=self._finish_epoch_ms,
            status=self._status,
            total_maps=self._total_maps,
            attempts=tuple(self._attempts.values()),
            problems=damaged,
        )
        return replace(job, problems=damaged + self._disagreements(job))

    def _disagreements(self, job: JobHistory) -> tuple[str, ...]:
        """What the job's own end says otherwise than its events."""
        if self._status is None:
            return ("the job's end is not recorded",)
        seen = len({attempt.task_id for attempt in job.maps})
        if seen != self._finished_maps:
            return (f"{seen} maps seen to finish, {self._finished_maps} by the job's own count",)
        return ()


class _Fields:
    """An event's record. Each reader raises RejectedError if the field is missing or of another type."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._body = body

    def text(self, key: str) -> str:
        value = self._body.get(key)
        if not isinstance(value, str) or not value:
            raise RejectedError(f"{key} is not text")
        return value

    def whole(self, key: str) -> int:
        value = self._body.get(key)
        if type(value) is not int or not 0 <= value <= LONG_MAX:
            raise RejectedError(f"{key} is not a whole number from 0")
        return value

    def port(self) -> int | None:
        """None where the attempt reached no NodeManager: Hadoop writes -1."""
        value = self._body.get("port")
        return value if type(value) is int and 0 < value < 2**16 else None

    def time_ms(self, key: str) -> int:
        value = self.whole(key)
        if value == 0:
            raise RejectedError(f"{key} is not set")
        return value


_Reader = Callable[[_Draft, _Fields], None]
_EVENTS: Mapping[str, tuple[str, _Reader]] = {
    "JOB_SUBMITTED": ("JobSubmitted", _Draft.submitted),
    "JOB_INITED": ("JobInited", _Draft.inited),
    "JOB_FINISHED": ("JobFinished", _Draft.finished),
    "JOB_FAILED": ("JobUnsuccessfulCompletion", _Draft.ended_badly),
    "JOB_KILLED": ("JobUnsuccessfulCompletion", _Draft.ended_badly),
    "JOB_ERROR": ("JobUnsuccessfulCompletion", _Draft.ended_badly),
    "MAP_ATTEMPT_STARTED": ("TaskAttemptStarted", _Draft.attempt_started),
    "MAP_ATTEMPT_FINISHED": ("MapAttemptFinished", _Draft.attempt_finished),
    "MAP_ATTEMPT_FAILED": ("TaskAttemptUnsuccessfulCompletion", _Draft.attempt_ended_badly),
    "MAP_ATTEMPT_KILLED": ("TaskAttemptUnsuccessfulCompletion", _Draft.attempt_ended_badly),
    "REDUCE_ATTEMPT_STARTED": ("TaskAttemptStarted", _Draft.attempt_started),
    "REDUCE_ATTEMPT_FINISHED": ("ReduceAttemptFinished", _Draft.attempt_finished),
    "REDUCE_ATTEMPT_FAILED": ("TaskAttemptUnsuccessfulCompletion", _Draft.attempt_ended_badly),
    "REDUCE_ATTEMPT_KILLED": ("TaskAttemptUnsuccessfulCompletion", _Draft.attempt_ended_badly),
}
