"""Work on GPUs, which no plan counts, is told; so is a record that cannot show it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from density_study.analysis.capacity.traces import nextflow, slurm
from tests.unit.analysis.capacity.traces.records import (
    END,
    STAGE,
    START,
    TASK,
    environment,
    galaxy,
    profile_from,
    sacct,
)

PAGE = Path(__file__).parents[5] / "docs" / "how-to" / "capacity-from-trace.md"

GPU = {"spark.task.resource.gpu.amount": "1"}
CALL = {"executionStatus": "Done", "shardIndex": -1, "start": "2026-01-01T00:00:00Z",
        "end": "2026-01-01T01:00:00Z",
        "runtimeAttributes": {"cpu": 4, "memory": "16 GB", "gpuCount": "2"}}  # fmt: skip
ON_GPUS = {
    "nextflow": "name\tstatus\trealtime\t%cpu\taccelerator\nA\tCOMPLETED\t1h\t100%\t2\n",
    "cromwell": json.dumps({"submittedFiles": {}, "calls": {"w.a": [CALL]}}),
    "snakemake": "s\th:m:s\tcpu_time\tresources\n3600\t1:00:00\t3600\t{'nvidia_gpu': 1}\n",
    "snakemake, of Slurm": "s\th:m:s\tcpu_time\tresources\n9\t0:00:09\t9\t{'mem_mb': 1, 'gres': 'gpu:1'}\n",
    "snakemake, in JSON": json.dumps({"s": 9, "h:m:s": "0:00:09", "cpu_time": 9,
                                      "resources": {"slurm_extra": "'--gres=gpu:a100:1'"}}),
    "slurm, by type": "JobID|State|ElapsedRaw|AllocTRES\n7|COMPLETED|3600|cpu=16,gres/gpu:a100=2,mem=128G\n",
    "slurm": "JobID|State|ElapsedRaw|AllocTRES\n7|COMPLETED|3600|cpu=16,gres/gpu=2,mem=128G\n",
    "spark": START + environment(**GPU) + STAGE + TASK + END,
    "healthomics": json.dumps({"arn": "arn:aws:omics:us-east-1:1:task/1", "name": "A", "cpus": 4,
                               "gpus": 1, "status": "COMPLETED", "metrics": {"runningSeconds": 9}}),
}  # fmt: skip


@pytest.mark.parametrize("kind", ON_GPUS)
def test_work_on_gpus_is_said(tmp_path: Path, kind: str) -> None:
    profile = profile_from(tmp_path, {"record": ON_GPUS[kind]})
    assert any("1 task used GPUs, which no plan counts" in line for line in profile.left_out())


NEXTFLOW = "name\tstatus\trealtime\t%cpu\nA\tCOMPLETED\t1h\t100%\n"
WITHOUT_A_COLUMN = {
    "nextflow, by default": NEXTFLOW,
    "snakemake, not extended": "s\th:m:s\tcpu_time\n3600\t1:00:00\t3600\n",
    "slurm": sacct("7|A|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|3600|2|02:00:00"),
    "galaxy": json.dumps(galaxy("j1")),
}
ON_NONE = {
    "nextflow": NEXTFLOW.replace("%cpu", "%cpu\taccelerator").replace("100%", "100%\t-"),
    "snakemake": "s\th:m:s\tcpu_time\tresources\n9\t0:00:09\t9\t{'gpu': 0, 'gres': 'gpu:0'}\n",
    "slurm": "JobID|State|ElapsedRaw|AllocTRES\n7|COMPLETED|3600|cpu=16,gres/gpu:a100=0\n",
}
SAID = "the record does not say which tasks used GPUs"


@pytest.mark.parametrize("kind", WITHOUT_A_COLUMN)
def test_a_record_that_cannot_show_gpus_says_so(tmp_path: Path, kind: str) -> None:
    profile = profile_from(tmp_path, {"record": WITHOUT_A_COLUMN[kind]})
    assert [line for line in profile.left_out() if line.startswith(SAID)]


@pytest.mark.parametrize("kind", ON_NONE)
def test_a_record_that_shows_no_gpus_says_nothing_of_them(tmp_path: Path, kind: str) -> None:
    profile = profile_from(tmp_path, {"record": ON_NONE[kind]})
    assert not [line for line in profile.left_out() if "GPU" in line]


def test_the_advice_asks_for_the_columns_that_show_gpus() -> None:
    page = PAGE.read_text()
    for text in (slurm.COMMAND, page):
        found = re.search(r"sacct -P --duplicates -o ([\w,]+)", text)
        assert found is not None and "AllocTRES" in found[1].split(",")
    assert "accelerator" in nextflow.FIELDS.split(", ")
    assert "add the fields `cpus,memory,accelerator`" in page
