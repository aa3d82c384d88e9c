"""Attempts that two rows have, unfinished logs, tables of Galaxy, and formats that are named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from tests.unit.analysis.capacity.traces.records import (
    END,
    STAGE,
    START,
    TASK,
    environment,
    galaxy,
    hours,
    nextflow,
    profile_from,
    sacct,
)

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
