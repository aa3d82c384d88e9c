"""Variant importance: planted variants decide about the trait, uses are the counts of kernel and Spark, and a
wrong answer is a fault."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.pipeline.faults import importance_faults
from density_study.workloads.pipeline.importance import agent
from density_study.workloads.pipeline.importance.containers import (
    ContainersUse,
    TasksUse,
    tasks_of,
    use_of,
)
from density_study.workloads.pipeline.importance.genotypes import CAUSAL, matrix, planted
from density_study.workloads.pipeline.output.answers import parse_answers
from density_study.workloads.pipeline.output.stages import parse_stages
from density_study.workloads.pipeline.spec import PipelineSpec
from density_study.workloads.pipeline.test_case import PipelineTestCase
from tests.support.topologies import local, physical

SAMPLES, VARIANTS, SEED = 200, 400, 5
EVENT = {
    "Event": "SparkListenerTaskEnd",
    "Task Info": {"Failed": False},
    "Task Metrics": {
        "Executor CPU Time": 1_500_000_000,
        "Input Metrics": {"Bytes Read": 100},
        "Shuffle Read Metrics": {"Remote Bytes Read": 10, "Local Bytes Read": 1},
        "Shuffle Write Metrics": {"Shuffle Bytes Written": 7},
    },
}


def case(**asked: Any) -> PipelineTestCase:
    spec = PipelineSpec.model_validate({"bases": [200_000], "variant_importance": asked})
    return spec.test_cases()[0]


def test_planted_variants_decide_about_the_trait() -> None:
    rows = [line.split() for line in matrix(SAMPLES, VARIANTS, SEED).decode().splitlines()]
    trait = np.array([int(row[0]) for row in rows])
    genotypes = np.zeros((SAMPLES, VARIANTS))
    for number, row in enumerate(rows):
        for cell in row[1:]:
            at, copies = cell.split(":")
            genotypes[number, int(at) - 1] = int(copies)
    assert trait.sum() == SAMPLES / 2
    assert set(np.unique(genotypes)) == {0, 1, 2}
    strength = [abs(np.corrcoef(genotypes[:, at], trait)[0, 1]) for at in range(VARIANTS)]
    strongest = np.argsort(strength)[::-1][:CAUSAL]
    assert {int(at) for at in strongest} == set(planted(VARIANTS, SEED))


def test_genotypes_are_the_same_for_the_same_seed() -> None:
    assert matrix(100, 100, 1) == matrix(100, 100, 1) != matrix(100, 100, 2)
    assert len(set(planted(100, 1))) == CAUSAL


def process(proc: Path, pid: int, command: str, ticks: str, peak_kb: int) -> None:
    folder = proc / str(pid)
    folder.mkdir()
    (folder / "cmdline").write_bytes(command.replace(" ", "\0").encode())
    (folder / "stat").write_text(f"{pid} (a (b) c) S 1 2 3 4 5 6 7 8 9 10 {ticks} 0 0")
    (folder / "status").write_text(f"Name:\tjava\nVmHWM:\t{peak_kb} kB\n")


def test_containers_are_the_processes_that_name_the_application(tmp_path: Path) -> None:
    process(tmp_path, 10, "java --app-id application_1_0001", "100 50 0 0", 2000)
    process(tmp_path, 11, "bash /x/application_1_0001/launch.sh", "0 0 10 40", 300)
    process(tmp_path, 12, "java --app-id application_1_0002", "900 0 0 0", 9000)
    (tmp_path / "13").mkdir()  # it has ended
    assert use_of("application_1_0001", tmp_path) == ContainersUse(2.0, 2300)


def test_tasks_are_those_that_succeeded() -> None:
    failed = EVENT | {"Task Info": {"Failed": True}}
    killed = EVENT | {"Task Metrics": None}
    other = {"Event": "SparkListenerStageCompleted", "Stage Info": {}}
    events = [json.dumps(event) for event in (EVENT, failed, killed, other, EVENT)]
    assert tasks_of(events) == TasksUse(2, 3.0, 222, 14)


def submitted(tmp_path: Path, script: str, planted: str = "3 5 8") -> Path:
    """What the agent leaves when `script` stands for spark-submit."""
    (tmp_path / "application_1").write_text(json.dumps(EVENT) + "\n")
    agent.main(
        ["--folder", str(tmp_path / "work"), "--node", "c1", "--output", str(tmp_path / "i.csv"),
         "--answers", str(tmp_path / "i-answers.csv"), "--events", str(tmp_path),
         "--result", str(tmp_path / "result.json"), "--planted", *planted.split(),
         "--submit", "sh", "-c", script]
    )  # fmt: skip
    return tmp_path


def writes(tmp_path: Path, *variants: int) -> str:
    result = {
        "application": "application_1",
        "variants": variants,
        "core_s": 9.5,
        "peak_kib": 10**6,
    }
    return f"echo '{json.dumps(result)}' > {tmp_path / 'result.json'}"


def test_a_row_has_driver_containers_and_tasks(tmp_path: Path) -> None:
    raw = submitted(tmp_path, writes(tmp_path, 8, 5, 3))
    (row,) = parse_stages((raw / "i.csv").read_bytes(), "i.csv").rows
    assert (row.genome, row.stage, row.node) == ("cohort", "variant-importance", "c1")
    assert 9.5 < row.core_s < 10.5 and row.reaped_core_s >= row.core_s
    assert row.peak_kib > 10**6
    assert (row.tasks, row.read_bytes, row.written_bytes) == (1, 111, 7)
    (answer,) = parse_answers((raw / "i-answers.csv").read_bytes(), "i").rows
    assert (answer.planted, answer.called, answer.found) == (3, 3, 3)
    assert importance_faults(raw, "i") == ()


def test_other_variants_on_top_are_a_fault(tmp_path: Path) -> None:
    raw = submitted(tmp_path, writes(tmp_path, 8, 5, 4))
    assert importance_faults(raw, "i") == (
        "variant-importance: only 2 of the 3 planted variants are among the 3 most important ones",
    )


def test_a_failed_submit_is_a_row_and_a_fault(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="spark-submit failed with exit code 4"):
        submitted(tmp_path, "exit 4")
    assert importance_faults(tmp_path, "i") == ("variant-importance exited with 4",)


def test_no_result_is_a_fault(tmp_path: Path) -> None:
    assert "i.csv" in importance_faults(tmp_path, "i")[0]
    raw = submitted(tmp_path, writes(tmp_path, 8, 5, 3))
    answers = raw / "i-answers.csv"
    answers.write_text("".join(answers.read_text().splitlines(keepends=True)[:2]))
    assert importance_faults(raw, "i") == ("0 results of variant importance, 1 expected",)


def test_a_test_case_names_its_forest() -> None:
    one = case(samples=300, variants=2_000, trees=30)
    assert one.id.endswith("-t1-s300-v2000-f30")
    assert one.estimate_s > without_forest(one).estimate_s + 40
    assert one.summary_fields()["unnamed_knobs"]["importance_trees"] == 30.0
    assert "importance" not in one.table_row()


def without_forest(one: PipelineTestCase) -> PipelineTestCase:
    return one.model_copy(update={"importance": None})


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"samples": 10}, "greater than or equal to 100"),
        ({"samples": 10_000, "variants": 10_000}, "100,000,000 genotypes exceed the 50,000,000"),
        ({"forests": 3}, "Extra inputs are not permitted"),
    ],
)
def test_what_cannot_be_is_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        case(**asked)


def test_it_needs_this_machines_spark_and_room_in_yarn() -> None:
    room = local()
    nodes = tuple(replace(node, container_mib=1536) for node in room.nodes)
    case().check_topology(replace(room, nodes=nodes))
    with pytest.raises(InputError, match="YARN has 512 MiB per node; Spark needs 1536 MiB"):
        case().check_topology(room)
    with pytest.raises(InputError, match="needs the Spark of this machine"):
        case().check_topology(replace(physical(), isolation=Isolation.HOST))
