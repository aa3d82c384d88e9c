"""Job histories: synthetic ones in the format of Hadoop 3.4.2, and a real one."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.testdfsio.output.history import Attempt, JobHistory, parse_history
from density_study.workloads.testdfsio.output.io_parts import parse_io_part
from density_study.workloads.testdfsio.output.results import parse_results

SAMPLES = Path(__file__).parents[3] / "samples"
PACKAGE = "org.apache.hadoop.mapreduce.jobhistory."
JOB = "job_1795200000000_0001"


def event(kind: str, record: str, **fields: Any) -> str:
    return json.dumps({"type": kind, "event": {PACKAGE + record: fields}})


def attempt_id(number: int, kind: str = "m") -> str:
    return f"attempt_1795200000000_0001_{kind}_{number:06d}_0"


def started(number: int, at_ms: int, task: str = "MAP") -> str:
    return event(
        f"{task}_ATTEMPT_STARTED",
        "TaskAttemptStarted",
        attemptId=attempt_id(number, task[0].lower()),
        taskid=f"task_1795200000000_0001_{task[0].lower()}_{number:06d}",
        taskType=task,
        startTime=at_ms,
    )


def finished(number: int, at_ms: int, task: str = "MAP") -> str:
    record = "MapAttemptFinished" if task == "MAP" else "ReduceAttemptFinished"
    identity = attempt_id(number, task[0].lower())
    kind = f"{task}_ATTEMPT_FINISHED"
    return event(kind, record, attemptId=identity, finishTime=at_ms, hostname="w1", port=8041)


def failed(number: int, at_ms: int, status: str = "FAILED") -> str:
    return event(
        f"MAP_ATTEMPT_{status}",
        "TaskAttemptUnsuccessfulCompletion",
        attemptId=attempt_id(number),
        finishTime=at_ms,
        hostname="w1",
        status=status,
    )


HEAD = ["Avro-Json", '{"type": "record", "namespace": "x", "name": "Event", "fields": []}']
SUBMITTED = event("JOB_SUBMITTED", "JobSubmitted", jobid=JOB, jobName="dfsio", submitTime=1000)
INITED = event("JOB_INITED", "JobInited", jobid=JOB, launchTime=3000, totalMaps=2)


def job_finished(maps: int = 2, at_ms: int = 20_000) -> str:
    return event("JOB_FINISHED", "JobFinished", jobid=JOB, finishTime=at_ms, finishedMaps=maps)


WHOLE = [
    *HEAD,
    SUBMITTED,
    event("JOB_QUEUE_CHANGED", "JobQueueChange", jobid=JOB),
    INITED,
    event("TASK_STARTED", "TaskStarted"),
    started(0, 5000),
    started(1, 5500),
    finished(0, 9000),
    finished(1, 12_500),
    started(0, 12_600, "REDUCE"),
    finished(0, 14_000, "REDUCE"),
    job_finished(),
]


def history(*lines: str) -> str:
    return "".join(line + "\n" for line in lines)


def map_phase_s(job: JobHistory) -> float | None:
    """First start to last end of the successful maps; None where the file may be incomplete."""
    starts = [attempt.start_epoch_ms for attempt in job.maps]
    ends = [attempt.finish_epoch_ms for attempt in job.maps if attempt.finish_epoch_ms]
    return (max(ends) - min(starts)) / 1000 if ends and not job.problems else None


def unsuccessful_maps(job: JobHistory) -> list[Attempt]:
    return [a for a in job.attempts if a.kind == "map" and a not in job.maps]


def only(text: str) -> JobHistory:
    (job,) = parse_history(text, "a.jhist").rows
    return job


def test_a_whole_job() -> None:
    parsed = parse_history(history(*WHOLE), "a.jhist")
    (job,) = parsed.rows
    assert (job.job_id, job.name, job.status, job.total_maps) == (JOB, "dfsio", "SUCCEEDED", 2)
    assert (job.submit_epoch_ms, job.finish_epoch_ms) == (1000, 20_000)
    assert job.maps[0] == Attempt(
        attempt_id(0), "task_1795200000000_0001_m_000000", "map", 5000, 9000, "SUCCEEDED", "w1"
    )
    assert [a.kind for a in job.attempts] == ["map", "map", "reduce"]
    assert map_phase_s(job) == 7.5
    assert (job.problems, parsed.quarantined) == ((), ())
    assert (parsed.parsed, parsed.skipped) == (9, 4)


def test_failed_and_killed_attempts_are_counted_separately() -> None:
    again = started(1, 13_000).replace("000001_0", "000001_1")
    end = finished(1, 16_000).replace("000001_0", "000001_1")
    lines = [*WHOLE[:8], finished(0, 9000), failed(1, 12_500), again, end, job_finished()]
    job = only(history(*lines))
    assert [(a.status, a.finish_epoch_ms) for a in unsuccessful_maps(job)] == [("FAILED", 12_500)]
    assert map_phase_s(job) == 11.0


def test_an_attempt_killed_after_it_succeeded_did_not_succeed() -> None:
    job = only(history(*WHOLE[:10], failed(1, 13_000, "KILLED"), job_finished(maps=1)))
    assert [a.status for a in unsuccessful_maps(job)] == ["KILLED"]
    assert len(job.maps) == 1


def test_an_attempt_killed_before_it_started_does_not_count() -> None:
    job = only(history(*WHOLE[:-1], failed(7, 6000, "KILLED"), job_finished()))
    assert (len(job.attempts), job.problems) == (3, ())


def test_a_failed_job() -> None:
    end = event(
        "JOB_FAILED",
        "JobUnsuccessfulCompletion",
        finishTime=9000,
        finishedMaps=0,
        jobStatus="FAILED",
    )
    job = only(history(*WHOLE[:8], failed(0, 8000), failed(1, 8500), end))
    assert (job.status, job.finish_epoch_ms, map_phase_s(job)) == ("FAILED", 9000, None)


def test_a_truncated_history_gives_no_phase() -> None:
    """A lost map at the end would silently shorten the phase and raise the rate."""
    for size in range(3, len(WHOLE)):
        job = only(history(*WHOLE[:size]))
        assert map_phase_s(job) is None
        assert job.problems == ("the job's end is not recorded",)


def test_a_lost_event_in_the_middle_is_detected() -> None:
    job = only(history(*(line for line in WHOLE if line != finished(1, 12_500))))
    assert job.problems == ("1 maps finished, 2 by the job's own count",)
    assert map_phase_s(job) is None


@pytest.mark.parametrize(
    "damaged, reason",
    [
        (finished(1, 12_500)[:-2], "not JSON"),
        (finished(1, 12_500).replace("12500", "-5"), "finishTime is not a whole number"),
        (finished(1, 12_500).replace("12500", '"12500"'), "finishTime is not a whole number"),
        (finished(1, 12_500).replace("12500", "NaN"), "finishTime is not a whole number"),
        (finished(1, 12_500).replace("12500", "true"), "finishTime is not a whole number"),
        (finished(1, 12_500).replace("12500", "9" * 30), "finishTime is not a whole number"),
        (finished(1, 12_500).replace("12500", "9" * 5000), "not JSON"),
        (finished(1, 12_500).replace("12500", "5000"), "ends before it starts"),
        (finished(0, 9000), "second end"),
        (finished(5, 9000), "start is not recorded"),
        (started(0, 9000), "second start"),
        (SUBMITTED, "second job"),
        ('{"type": "MAP_ATTEMPT_MELTED", "event": {}}', "unknown event"),
        ('{"type": ["x"], "event": {}}', "unknown event"),
        ('{"type": "MAP_ATTEMPT_FINISHED", "event": {"x": {}}}', "without a MapAttemptFinished"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_damaged_event_is_quarantined_and_invalidates_the_phase(
    damaged: str, reason: str
) -> None:
    index = WHOLE.index(finished(1, 12_500))
    parsed = parse_history(history(*WHOLE[:index], damaged, *WHOLE[index + 1 :]), "a.jhist")
    (quarantined,) = parsed.quarantined
    assert quarantined.line == index + 1
    assert reason in quarantined.reason
    assert map_phase_s(parsed.rows[0]) is None


def test_an_event_without_a_newline_is_complete_if_it_parses() -> None:
    text = history(*WHOLE).rstrip("\n")
    assert map_phase_s(only(text)) == 7.5
    assert map_phase_s(only(text[:-1])) is None


@pytest.mark.parametrize("data", [b"", b"Avro-Binary\n{}\n\x00", b"hello", b"\xffAvro-Json\n"])
def test_another_file_is_refused(data: bytes) -> None:
    with pytest.raises(ParseError):
        parse_history(data, "a.jhist")


def test_a_binary_history_is_refused_by_name() -> None:
    with pytest.raises(ParseError, match=r"jhist\.format=json"):
        parse_history(b"Avro-Binary\n{}\n", "a.jhist")


def test_a_history_without_a_submission_gives_no_job() -> None:
    assert parse_history(history(*HEAD, INITED), "a.jhist").rows == ()


def sample(name: str) -> str:
    return (SAMPLES / f"TestDFSIO-3.4.2_{name}").read_text()


def test_a_real_history() -> None:
    parsed = parse_history(sample("write.jhist"), "a.jhist")
    (job,) = parsed.rows
    assert (job.status, job.total_maps, len(job.maps), job.problems) == ("SUCCEEDED", 4, 4, ())
    assert unsuccessful_maps(job) == []
    assert (parsed.parsed, parsed.skipped, parsed.quarantined) == (13, 40, ())


def test_the_three_rates_match_an_independent_reading_of_a_real_job() -> None:
    """Per stream, map phase and whole job (method 13), by regular expressions over the same
    files."""
    (job,) = parse_history(sample("write.jhist"), "a.jhist").rows
    (totals,) = parse_io_part(sample("write_part-00000"), "part-00000").rows
    printed = parse_results(sample("write_and_random.log"), "r.log").rows[0]
    text = sample("write.jhist")
    starts = re.findall(r'"MAP_ATTEMPT_STARTED".*?"startTime":([0-9]+)', text)
    ends = re.findall(r'"MAP_ATTEMPT_FINISHED".*?"finishTime":([0-9]+)', text)
    submit = re.search(r'"submitTime":([0-9]+)', text)
    done = re.search(r'"JOB_FINISHED".*?"finishTime":([0-9]+)', text)
    assert submit and done
    assert job.finish_epoch_ms is not None
    phase_s, whole_s = map_phase_s(job), (job.finish_epoch_ms - job.submit_epoch_ms) / 1000
    assert phase_s is not None
    assert phase_s == pytest.approx((max(map(int, ends)) - min(map(int, starts))) / 1000)
    assert whole_s == pytest.approx((int(done[1]) - int(submit[1])) / 1000)
    assert totals.throughput_per_stream_mib_s == pytest.approx(printed.throughput_mib_s, rel=1e-3)
    average = totals.rate / 1000 / totals.tasks
    deviation = math.sqrt(abs(totals.sqrate / 1000 / totals.tasks - average**2))
    assert average == pytest.approx(printed.average_io_rate_mib_s, rel=1e-3)
    assert deviation == pytest.approx(printed.io_rate_stddev, rel=1e-3)
    assert totals.size_bytes / 2**20 == printed.total_mib
    assert 0 < phase_s < whole_s < printed.exec_time_s


@pytest.mark.parametrize(
    "counters", [[], {"groups": 1}, {"groups": [{}]}, {"groups": [{"name": "a", "counts": [{}]}]}]
)
def test_an_end_with_unreadable_counters_is_no_end(counters: object) -> None:
    lines = [
        *WHOLE[:-1],
        WHOLE[-1].replace('"finishedMaps": 2', f'"totalCounters": {json.dumps(counters)}'),
    ]
    parsed = parse_history(history(*lines), "a.jhist")
    (job,) = parsed.rows
    assert job.status is None and "totalCounters" in parsed.quarantined[0].reason
