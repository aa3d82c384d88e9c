"""A study's queue is that of all its tasks, so that one worker can carry out the whole study."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dag.backend import SMALL

pytestmark = pytest.mark.dag


@pytest.mark.parametrize(("key", "queue"), [("", "default"), ("queue: rack-1\n", "rack-1")])
def test_the_queue_of_a_study_is_that_of_all_its_tasks(
    airflow: None, tmp_path: Path, key: str, queue: str
) -> None:
    from density_study.dags.graph.catalogue import read_outline
    from density_study.dags.graph.study_dag import study_dag

    path = tmp_path / "small.yaml"
    path.write_text(SMALL + key)
    dag = study_dag(read_outline(path).outline, path, "runs")
    assert (len(dag.tasks), {task.queue for task in dag.tasks}) == (15, {queue})
