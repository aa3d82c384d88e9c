"""Attempts that two rows have, work on GPUs, rolling logs, tables of Galaxy, and formats that are named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from density_study.analysis.capacity.inputs.profile import Profile
from density_study.analysis.capacity.traces.profiled import profile_of
from density_study.analysis.capacity.traces.readers import read_traces
from density_study.cluster.model.errors import InputError


def profile_from(folder: Path, files: Mapping[str, str | bytes]) -> Profile:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return profile_of(read_traces([folder]), 1, "x", "t")


def hours(profile: Profile) -> dict[str, tuple[float, int]]:
    """Core-hours and tasks by stage."""
    return {
        stage.name: (round(stage.core_hours.value, 3) if stage.core_hours else 0.0, stage.tasks)
        for stage in profile.stages
    }


def nextflow(*rows: str) -> str:
    return "\n".join(("hash|name|status|realtime|%cpu|cpus", *rows)).replace("|", "\t") + "\n"


def sacct(*rows: str) -> str:
    head = "JobID|JobName|State|Submit|Start|ElapsedRaw|AllocCPUS|TotalCPU"
    return "\n".join((head, *rows)) + "\n"


def galaxy(name: str) -> dict[str, Any]:
    seen = {"galaxy_slots": "8.0", "runtime_seconds": "3600.0", "cpuacct.usage": "7200000000000.0"}
    metrics = [{"name": key, "raw_value": value} for key, value in seen.items()]
    return {"id": name, "tool_id": "bwa", "state": "ok", "job_metrics": metrics}


FIRST = nextflow("aa/1|A (1)|COMPLETED|1h|100%|1", "bb/1|B (1)|FAILED|1h|100%|1")
RESUMED = nextflow("aa/1|A (1)|CACHED|1h|100%|1", "cc/1|B (1)|COMPLETED|1h|100%|1")
JOB = "7|A|COMPLETED|2026-01-01T00:00:00|{}|3600|2|02:00:00"
FIVE, SIX = "2026-01-01T05:00:00", "2026-01-01T06:00:00"


@pytest.mark.parametrize(
    ("files", "found", "left_out"),
    [
        ({"1.txt": FIRST, "2.txt": RESUMED}, {"a": (1.0, 1), "b": (2.0, 1)}, 1),
        ({"1.txt": sacct(JOB.format(FIVE)), "2.txt": sacct(JOB.format(FIVE))}, {"a": (2.0, 1)}, 1),
        ({"1.txt": sacct(JOB.format(FIVE), JOB.format(SIX))}, {"a": (4.0, 2)}, 0),
        ({"1.json": json.dumps([galaxy("j1"), galaxy("j1")])}, {"bwa": (2.0, 1)}, 1),
        ({"1.json": json.dumps([galaxy("j1"), galaxy("j2")])}, {"bwa": (4.0, 2)}, 0),
    ],
    ids=["resumed", "exported twice", "requeued", "job twice", "two jobs"],
)
def test_an_attempt_that_two_rows_have_counts_once(
    tmp_path: Path, files: Mapping[str, str], found: dict[str, tuple[float, int]], left_out: int
) -> None:
    profile = profile_from(tmp_path, files)
    assert hours(profile) == found
    said = [line for line in profile.notes if "left out: another row has the same attempt" in line]
    assert [int(line.split()[0]) for line in said] == [left_out] * bool(left_out)


def test_tasks_without_an_id_are_tasks_of_their_own(tmp_path: Path) -> None:
    task = {"name": "A", "cpus": 4, "memory": 16, "status": "COMPLETED", "instanceType": "omics.c.x",
            "metrics": {"runningSeconds": 3600}}  # fmt: skip
    profile = profile_from(tmp_path, {"m.json": json.dumps([task, task])})
    assert hours(profile) == {"a": (8.0, 2)}


def event(kind: str, **more: Any) -> str:
    return json.dumps({"Event": f"SparkListener{kind}", **more}) + "\n"


SPARK = {"spark.master": "yarn", "spark.executor.memory": "8g"}
START = event("LogStart", **{"Spark Version": "3.5.0"}) + event("ApplicationStart")
STAGE = event(
    "StageSubmitted", **{"Stage Info": {"Stage ID": 0, "Stage Name": "a", "RDD Info": []}}
)
TASK = event(
    "TaskEnd",
    **{"Stage ID": 0, "Task End Reason": {"Reason": "Success"}, "Task Info": {},
       "Task Metrics": {"Executor Run Time": 3600000, "Executor CPU Time": 1800 * 10**9}},
)  # fmt: skip
END = event("ApplicationEnd")


def environment(**more: str) -> str:
    return event("EnvironmentUpdate", **{"Spark Properties": {**SPARK, **more}})


GPU = {"spark.task.resource.gpu.amount": "1"}
CALL = {"executionStatus": "Done", "shardIndex": -1, "start": "2026-01-01T00:00:00Z",
        "end": "2026-01-01T01:00:00Z",
        "runtimeAttributes": {"cpu": 4, "memory": "16 GB", "gpuCount": "2"}}  # fmt: skip
ON_GPUS = {
    "nextflow": "name\tstatus\trealtime\t%cpu\taccelerator\nA\tCOMPLETED\t1h\t100%\t2\n",
    "cromwell": json.dumps({"submittedFiles": {}, "calls": {"w.a": [CALL]}}),
    "snakemake": "s\th:m:s\tcpu_time\tresources\n3600\t1:00:00\t3600\t{'nvidia_gpu': 1}\n",
    "slurm": "JobID|State|ElapsedRaw|AllocTRES\n7|COMPLETED|3600|cpu=16,gres/gpu=2,mem=128G\n",
    "spark": START + environment(**GPU) + STAGE + TASK + END,
    "healthomics": json.dumps({"arn": "arn:aws:omics:us-east-1:1:task/1", "name": "A", "cpus": 4,
                               "gpus": 1, "status": "COMPLETED", "metrics": {"runningSeconds": 9}}),
}  # fmt: skip


@pytest.mark.parametrize("kind", ON_GPUS)
def test_work_on_gpus_is_said(tmp_path: Path, kind: str) -> None:
    profile = profile_from(tmp_path, {"record": ON_GPUS[kind]})
    assert any("1 task used GPUs, which no plan counts" in line for line in profile.left_out())


def test_a_rolling_log_of_spark_is_one_log_in_order(tmp_path: Path) -> None:
    files = {"eventlog_v2_app/appstatus_app": ""}
    files |= {f"eventlog_v2_app/events_{place}_app": TASK for place in range(2, 11)}
    files["eventlog_v2_app/events_1_app"] = START + environment() + STAGE
    files["eventlog_v2_app/events_11_app"] = TASK + END
    profile = profile_from(tmp_path, files)
    assert hours(profile) == {"a-0": (5.0, 10)}
    assert not any("did not end" in line for line in profile.left_out())
    (tmp_path / "eventlog_v2_app/events_4_app").unlink()
    with pytest.raises(InputError, match="a file of this rolling log is missing"):
        read_traces([tmp_path])
    compacted = tmp_path / "eventlog_v2_app/events_10_app.compact"
    compacted.write_text(START + environment() + STAGE + TASK)
    profile = profile_of(read_traces([tmp_path]), 1, "x", "t")
    assert hours(profile) == {"a-0": (1.0, 2)}
    assert any("Spark compacted the log" in line for line in profile.left_out())


def test_a_log_of_spark_that_is_still_written_may_end_within_a_line(tmp_path: Path) -> None:
    profile = profile_from(
        tmp_path, {"a.inprogress": START + environment() + STAGE + TASK + TASK[:50]}
    )
    assert hours(profile) == {"a-0": (0.5, 1)}
    assert any("did not end" in line for line in profile.left_out())
    with pytest.raises(InputError, match="not valid JSON"):
        profile_from(tmp_path, {"a.inprogress": START + TASK[:50] + "\n" + TASK})


def test_two_applications_in_one_log_of_spark_are_refused(tmp_path: Path) -> None:
    text = START + environment() + STAGE + TASK
    for log in (text + END + text, text + text):
        with pytest.raises(InputError, match="a second application begins here"):
            profile_from(tmp_path, {"log": log})


LONG = "job_id,tool_id,state,plugin,metric_name,metric_value\n" + "".join(
    f"1,bwa,ok,core,{name},{value}\n"
    for name, value in (("galaxy_slots", 8), ("runtime_seconds", 3600), ("memory.peak", 2**32))
)
WIDE = "id\ttool_id\tstate\tgalaxy_slots\truntime_seconds\tmemory.peak\n1\tbwa\tok\t8\t3600\t4294967296\n"


@pytest.mark.parametrize("text", [LONG, WIDE], ids=["a row for each metric", "a row for each job"])
def test_a_table_of_galaxys_database_is_read(tmp_path: Path, text: str) -> None:
    profile = profile_from(tmp_path, {"jobs": text})
    (stage,) = profile.stages
    assert hours(profile) == {"bwa": (8.0, 1)}
    assert stage.ram_gib is not None and stage.ram_gib.value == 4.0
    with pytest.raises(InputError, match="job_id, tool_id and state are needed"):
        profile_from(tmp_path, {"jobs": text.replace("state", "status")})


def test_a_trace_of_nextflow_may_have_the_process_without_a_tag(tmp_path: Path) -> None:
    text = "process\tstatus\trealtime\t%cpu\nA:B\tCOMPLETED\t1h\t100%\n"
    assert hours(profile_from(tmp_path, {"trace.txt": text})) == {"b": (1.0, 1)}


def test_tasks_that_the_aws_command_lists_may_begin_with_their_id(tmp_path: Path) -> None:
    task = {"taskId": "1", "name": "A", "cpus": 4, "memory": 16, "status": "COMPLETED",
            "creationTime": "2026-01-01T00:00:00Z", "startTime": "2026-01-01T00:00:00Z",
            "stopTime": "2026-01-01T01:00:00Z"}  # fmt: skip
    profile = profile_from(tmp_path, {"m.json": json.dumps({"items": [task]}, indent=4)})
    assert hours(profile) == {"a": (4.0, 1)}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("01/01/2026 10:00:00;E;123.pbs;user=a resources_used.cput=01:00:00\n", "accounting of PBS"),
        ('"JOB_FINISH" "10.1" 1700000000 123 1000 33554434 1 1699990000\n', "accounting of LSF"),
        ("# Version: 8\nall.q:n1:g:u:A:123:sge:0:1700000000:1:2:0:0:3\n", "accounting of Grid Engine"),
        ("=====\nqname        all.q\nhostname     node1\n", "accounting of Grid Engine"),
        ("000 (123.000.000) 2026-01-01 10:00:00 Job submitted\n...\n", "the history of HTCondor"),
        ('[\n{\n  "ClusterId": 123,\n  "JobStatus": 4\n}\n]\n', "the history of HTCondor"),
        ('{"jobs": [{"jobArn": "arn:aws:batch:us-east-1:1:job/a"}]}', "jobs of AWS Batch"),
        ("INFO [job bwa] Max memory used: 1024MiB\n", "cwltool or Toil"),
        ('{"id": "x", "executors": [{"image": "a"}]}', "GA4GH's TES or WES"),
        ('\tCommand being timed: "bwa"\n', "GNU time"),
        ("7|A|COMPLETED|3600|2|02:00:00\n", "sacct of Slurm without its header"),
        ('{"jobs": [{"account": "x", "allocation_nodes": 1}]}', "JSON of Slurm's sacct"),
        (b"ZV\x01\x00\x10" + b"x" * 50, "an event log of Spark, compressed"),
        ("\ufeffname\tstatus\trealtime\n".encode("utf-16-le"), "text in UTF-16"),
    ],
)  # fmt: skip
def test_a_record_of_another_system_is_refused_by_its_name(
    tmp_path: Path, text: str | bytes, name: str
) -> None:
    with pytest.raises(InputError, match=f"this is .*{name}") as caught:
        profile_from(tmp_path, {"record": text})
    assert caught.value.remedy
