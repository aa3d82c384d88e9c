"""The same records as other tools export them: prefixes, tables, quotes, delimiters, and missing cells."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from density_study.analysis.capacity.traces.by_size import read_sizes
from density_study.cluster.model.errors import InputError
from tests.unit.analysis.capacity.traces.records import (
    END,
    STAGE,
    START,
    TASK,
    environment,
    event,
    hours,
    nextflow,
    profile_from,
)

WILD = Path(__file__).parents[4] / "samples" / "wild" / "traces"
MANIFEST = (WILD / "n73-healthomics-manifest-2024.jsonl").read_text()
ENTRIES: list[dict[str, Any]] = [json.loads(line) for line in MANIFEST.splitlines()]
STREAM = "manifest/run/8192875/90c95432-34ac-9bbf-1e8a-3b6387044c59"
OF_MANIFEST = {
    "genomesize": (0.0, 1), "ugmakeexamples": (0.307, 3), "ugcallvariants": (0.983, 1),
    "ugpostprocessing": (0.029, 1),
}  # fmt: skip
"""By hand: cpusAverage x runningSeconds / 3600, of the three shards together."""


def table(head: Sequence[str], rows: Sequence[Sequence[object]], quote: bool = False) -> str:
    text = StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL if quote else csv.QUOTE_MINIMAL)
    writer.writerows([head, *rows])
    return text.getvalue()


def insights() -> str:
    rows = [
        [{"field": "@timestamp", "value": "2024-10-20 07:10:00.000"},
         {"field": "@message", "value": json.dumps(one)}]
        for one in ENTRIES
    ]  # fmt: skip
    return json.dumps({"results": rows, "statistics": {}, "status": "Complete"}, indent=4)


def flat() -> str:
    tasks = [{**one, **one["metrics"]} for one in ENTRIES[1:]]
    names = [name for name in tasks[0] if name != "metrics"]
    return table(names, [[task[name] for name in names] for task in tasks])


EXPORTS: dict[str, str | bytes] = {
    "lines": MANIFEST,
    "aws logs tail": "".join(
        f"2024-10-20T07:10:00.123000+00:00 {STREAM} {line}\n" for line in MANIFEST.splitlines()
    ),
    "an export to S3": gzip.compress(
        "".join(f"2024-10-20T07:10:00.123Z {line}\n" for line in MANIFEST.splitlines()).encode()
    ),
    "CSV of the console": table(
        ("timestamp", "message"), [(1729408200123, line) for line in MANIFEST.splitlines()]
    ),
    "CSV of Logs Insights": table(
        ("@timestamp", "@message"),
        [("2024-10-20 07:10:00.123", line) for line in MANIFEST.splitlines()],
    ),
    "the answer of get-query-results": insights(),
    "a column for each field": flat(),
    "a run with its tasks": json.dumps({**ENTRIES[0], "tasks": ENTRIES[1:]}, indent=1),
}


@pytest.mark.parametrize("kind", EXPORTS)
def test_a_manifest_of_healthomics_is_the_same_in_every_export(tmp_path: Path, kind: str) -> None:
    """Of a real run. What counts is the request, not the instance that it was rounded up to."""
    profile = profile_from(tmp_path, {"manifest": EXPORTS[kind]})
    assert hours(profile) == OF_MANIFEST
    stages = {stage.name: stage for stage in profile.stages}
    first, last = stages["genomesize"], stages["ugpostprocessing"]
    assert (first.cores_per_task, last.cores_per_task) == (1, 1)  # on instances of 2
    assert first.ram_gib is not None and last.ram_used_gib is not None
    assert (first.ram_gib.value, round(last.ram_used_gib.value, 3)) == (1.0, 2.387)  # of 4 GiB
    assert last.after == ("ugcallvariants",)


def omics(**more: Any) -> dict[str, Any]:
    return {"arn": f"arn:aws:omics:us-east-1:1:task/{more['name']}", "status": "COMPLETED",
            "cpus": 1, "metrics": {"runningSeconds": 3600}, **more}  # fmt: skip


def test_shards_of_nested_scatters_are_tasks_of_one_process(tmp_path: Path) -> None:
    names = ("Call-0", "Call-1-chr2", "Call-00-s1-1-chr2", "Call", "call_2", "step-one")
    text = "\n".join(json.dumps(omics(name=name)) for name in names)
    assert hours(profile_from(tmp_path, {"m": text})) == {
        "call": (4.0, 4), "call-2": (1.0, 1), "step-one": (1.0, 1)}  # fmt: skip


def test_without_a_request_of_healthomics_its_instance_counts(tmp_path: Path) -> None:
    metrics = {"runningSeconds": 3600, "cpusReserved": 4, "memoryReservedGiB": 8}
    task = omics(name="A", metrics=metrics)
    del task["cpus"]
    profile = profile_from(tmp_path, {"m": json.dumps(task)})
    (stage,) = profile.stages
    assert "no request of 1 task: the instance counts" in profile.notes
    assert stage.cores_per_task == 4 and stage.ram_gib is not None and stage.ram_gib.value == 8


def test_a_table_of_cloudwatch_without_messages_is_refused(tmp_path: Path) -> None:
    text = table(("timestamp", "ingestionTime"), [(1, "arn:aws:omics:us-east-1:1:task/1")])
    with pytest.raises(InputError, match="the table has no message") as caught:
        profile_from(tmp_path, {"m": text})
    assert "line 2" in caught.value.where and caught.value.remedy


HEAD = (
    "",
    "JobID",
    "JobName",
    "State",
    "Start",
    "ElapsedRaw",
    "AllocCPUS",
    "AllocTRES",
    "TotalCPU",
)
ROWS = (
    (0, "7", "A", "REQUEUED", "2026-01-01T05:00:00", 3600, 4, "cpu=4,mem=8G,node=1", "00:00:00"),
    (1, "7", "A", "COMPLETED", "2026-01-01T06:00:00", 3600, 4, "cpu=4,mem=8G,node=1", "02:00:00"),
    (
        2,
        "7.batch",
        "batch",
        "COMPLETED",
        "2026-01-01T06:00:00",
        3600,
        4,
        "cpu=4,node=1",
        "02:00:00",
    ),
)


@pytest.mark.parametrize("quote", [False, True], ids=["pandas", "R"])
def test_sacct_that_a_program_saved_with_quotes_is_read(tmp_path: Path, quote: bool) -> None:
    """A job that was requeued did its first attempt in vain. Nobody counted its CPU time: it counts as busy
    as the second."""
    profile = profile_from(tmp_path, {"jobs.csv": table(HEAD, ROWS, quote)})
    (stage,) = profile.stages
    assert hours(profile) == {"a": (4.0, 1)}
    assert stage.lost == 0.5
    assert stage.ram_gib is not None and stage.ram_gib.value == 8.0
    assert any("1 attempt did not succeed (1 REQUEUED)" in line for line in profile.notes)


def test_a_device_counter_that_is_missing_leaves_the_other_one(tmp_path: Path) -> None:
    head = "name|status|realtime|%cpu|read_bytes|write_bytes|rchar|wchar"
    text = nextflow("A|COMPLETED|1h|100%|-||1 GB|2 GB", head=head)
    (stage,) = profile_from(tmp_path, {"trace.txt": text}).stages
    assert {name: one.value for name, one in stage.demands.items()} == {
        "hdfs_read": 1024.0, "hdfs_write": 2048.0}  # fmt: skip


@pytest.mark.parametrize("mark", [",", ";"])
def test_a_benchmark_that_a_spreadsheet_saved_is_read(tmp_path: Path, mark: str) -> None:
    text = "s\th:m:s\tmax_rss\tcpu_time\n3600\t1:00:00\t1024\t1800\n".replace("\t", mark)
    assert hours(profile_from(tmp_path, {"benchmarks/align.csv": text})) == {"align": (0.5, 1)}


def test_a_call_of_cromwell_on_googles_batch_takes_the_time_of_its_vm(tmp_path: Path) -> None:
    """Cromwell copies the job's events; each lasts until the next. The queue is no work."""
    states = (("QUEUED to SCHEDULED", "00:00", "03:00"), ("SCHEDULED to RUNNING", "03:00", "05:00"),
              ("RUNNING to SUCCEEDED", "05:00", "05:01"))  # fmt: skip
    events = [
        {"description": f"Job state is set from {state} for job projects/1/locations/x/jobs/job-1.",
         "startTime": f"2026-01-01T{begun}:00.704137839Z", "endTime": f"2026-01-01T{ended}:00.704137839Z"}
        for state, begun, ended in states
    ]  # fmt: skip
    running = {"description": "RunningJob", "startTime": "2026-01-01T00:00:00Z",
               "endTime": "2026-01-01T06:00:00Z"}  # fmt: skip
    call = {"executionStatus": "Done", "shardIndex": -1, "start": "2026-01-01T00:00:00Z",
            "end": "2026-01-01T06:00:00Z", "runtimeAttributes": {"cpu": "4", "memory": "8 GB"}}  # fmt: skip
    halves = [
        running | {"startTime": "2026-01-01T03:00:00Z"},
        running | {"endTime": "2026-01-01T03:00:00Z"},
    ]
    for found, expected in (([*events, running], 8.0), ([running], 24.0), (halves, 24.0)):
        text = json.dumps(
            {"submittedFiles": {}, "calls": {"w.a": [{**call, "executionEvents": found}]}}
        )
        assert hours(profile_from(tmp_path, {"m.json": text})) == {"a": (expected, 1)}


def test_sizes_with_separators_of_thousands_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "sizes.csv"
    path.write_text("sample;gib\ns1;1.200\ns2;980\n")
    with pytest.raises(InputError, match=r"may mean 1.2 or 1200") as caught:
        read_sizes(path)
    assert "line 2" in caught.value.where
    path.write_text("sample;gib\ns1;1.200\ns2;98.5\n")
    assert read_sizes(path) == {"s1": 1.2, "s2": 98.5}


K8S, OFF = {"spark.master": "k8s://x"}, {"spark.memory.offHeap.size": "2g"}
PYTHON = STAGE.replace('"RDD Info": []', '"RDD Info": [{"Name": "PythonRDD"}]')


@pytest.mark.parametrize(
    ("stage", "properties", "gib"),
    [
        (STAGE, {}, 8 * 1.1 / 4),
        (STAGE, {"spark.executor.memoryOverhead": "2g"}, 10 / 4),
        (STAGE, {"spark.executor.memoryOverheadFactor": "0.5"}, 8 * 1.5 / 4),
        (STAGE, {**K8S, "spark.kubernetes.memoryOverheadFactor": "0.3"}, 8 * 1.3 / 4),
        (STAGE, K8S, 8 * 1.1 / 4),
        (PYTHON, K8S, 8 * 1.4 / 4),
        (PYTHON, {}, 8 * 1.1 / 4),
        (PYTHON, {"spark.executor.pyspark.memory": "1024"}, (8 * 1.1 + 1) / 4),
        (STAGE, {**OFF, "spark.memory.offHeap.enabled": "true"}, (8 * 1.1 + 2) / 4),
        (STAGE, OFF, 8 * 1.1 / 4),
    ],
)
def test_memory_of_a_task_of_spark_is_all_that_its_executor_requests(
    tmp_path: Path, stage: str, properties: dict[str, str], gib: float
) -> None:
    """Heap 8 GiB, four cores."""
    executor = event("ExecutorAdded", **{"Executor Info": {"Total Cores": 4}})
    text = START + environment(**properties) + executor + stage + TASK + END
    (found,) = profile_from(tmp_path, {"log": text}).stages
    assert found.ram_gib is not None and found.ram_gib.value == pytest.approx(gib)


@pytest.mark.parametrize("amount", ["much", "-1", "9e999g"])
def test_memory_of_spark_that_is_no_size_is_refused(tmp_path: Path, amount: str) -> None:
    executor = event("ExecutorAdded", **{"Executor Info": {"Total Cores": 4}})
    properties = environment(**{"spark.executor.memory": amount})
    with pytest.raises(InputError, match="its memory cannot be read"):
        profile_from(tmp_path, {"log": START + properties + executor + STAGE + TASK + END})
