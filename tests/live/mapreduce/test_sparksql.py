"""Spark SQL on the YARN of a study's own cluster: right answers, from cold disks, up to the report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.analysis.comparison.history import read_summary
from density_study.jobs import pipeline
from density_study.workloads.sparksql.output import answer_faults, parse_queries
from density_study.workloads.sparksql.test_case import RESULT, SparkSqlTestCase
from tests.live.support.command import left_of
from tests.live.support.measured import Measured, measured, raw_of_only

pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]

SPEC = Path(__file__).with_name("sparksql.yaml")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    with measured(SPEC, tmp_path_factory.mktemp("runs")) as found:
        yield found


@pytest.fixture
def raw(done: Measured) -> Path:
    return raw_of_only(done)


def test_every_query_has_its_answer_from_an_executor_on_each_node(
    done: Measured, raw: Path
) -> None:
    ((_, manifest),) = done[1].items()
    assert isinstance(manifest.test_case, SparkSqlTestCase)
    found = parse_queries((raw / RESULT).read_bytes(), RESULT)
    assert list(answer_faults(found, manifest.test_case.rows)) == []
    (log,) = raw.glob("application_*")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    ran = {
        one["Task Info"]["Executor ID"] for one in events if one["Event"] == "SparkListenerTaskEnd"
    }
    assert ran == {"1", "2"}


def test_the_table_came_from_the_disks(done: Measured) -> None:
    ((_, manifest),) = done[1].items()
    cold = manifest.cold
    assert isinstance(manifest.test_case, SparkSqlTestCase)
    assert cold is not None and cold.distinct_bytes_asked is not None
    assert cold.distinct_bytes_asked == pytest.approx(manifest.test_case.asked_bytes, rel=0.1)
    assert (cold.physical_read_bytes or 0) >= 0.9 * cold.distinct_bytes_asked


def test_its_seconds_are_in_the_report(done: Measured, raw: Path) -> None:
    run, _ = done
    pipeline.analyse(run.root)
    summary = read_summary(run.root)
    assert {trial.verdict for trial in summary.trials} == {"valid"}, summary.trials
    seen = {one.name: one.value for case in summary.test_cases for one in case.metrics}
    for row in parse_queries((raw / RESULT).read_bytes(), RESULT).rows:
        assert seen[f"sql_{row.query}"] == pytest.approx(row.seconds)
    assert (seen["throughput_sql"] or 0) > 0


def test_nothing_of_the_build_is_left(done: Measured) -> None:
    run, _ = done
    assert left_of(run.root) == []
