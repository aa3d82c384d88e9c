"""The whole genomics pipeline in containers of this machine, whose files they see: every stage ran on each
worker, what it computed is right, and nothing is left.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.workloads.pipeline.importance.stage import CLIENT
from density_study.workloads.pipeline.machine.files import ALIGN, CALL, IMPORTANCE, LOAD
from density_study.workloads.pipeline.output.answers import parse_answers
from density_study.workloads.pipeline.output.stages import parse_stages
from tests.live.support.containers import on_this_machine
from tests.live.support.measured import measured

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
SPEC = Path(__file__).with_name("genomes.yaml")


def test_the_whole_pipeline_in_containers(tmp_path: Path) -> None:
    before = on_this_machine()
    with measured(SPEC, tmp_path / "runs") as (run, manifests):
        (manifest,) = manifests.values()
        raw = run.records / manifest.trial / "raw"
        assert (manifest.state, manifest.reasons) == ("complete", ())
        assert manifest.isolation == "container"
        for node in ("w1", "w2"):
            file = raw / f"pipeline-{node}.csv"
            rows = parse_stages(file.read_bytes(), file.name).rows
            assert {row.exit_code for row in rows} == {0}
            assert {ALIGN, CALL, LOAD} <= {row.stage for row in rows}
            answers = parse_answers((raw / f"pipeline-{node}-answers.csv").read_bytes(), node).rows
            (stored,) = (one for one in answers if one.stage == LOAD)
            assert stored.planted == stored.called == stored.found > 100
        forest = raw / f"{CLIENT}.csv"
        (row,) = parse_stages(forest.read_bytes(), forest.name).rows
        assert row.stage == IMPORTANCE and row.core_s > 0 and row.tasks > 10
        found = raw / f"{CLIENT}-answers.csv"
        (answer,) = parse_answers(found.read_bytes(), found.name).rows
        assert (answer.planted, answer.found) == (3, 3)
    assert on_this_machine() - before == set()
