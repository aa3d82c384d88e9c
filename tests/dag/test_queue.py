"""A study's queue is that of all its tasks, so that one worker can carry out the whole study."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dag.backend import SMALL

pytestmark = pytest.mark.dag
CODE = """
import sys, pathlib
from density_study.dags.graph.catalogue import read_outline
from density_study.dags.graph.study_dag import study_dag
path = pathlib.Path(sys.argv[1])
dag = study_dag(read_outline(path).outline, path, "runs")
print(len(dag.tasks), *{task.queue for task in dag.tasks})
"""


@pytest.mark.parametrize(("key", "queue"), [("", "default"), ("queue: rack-1\n", "rack-1")])
def test_the_queue_of_a_study_is_that_of_all_its_tasks(
    tmp_path: Path, key: str, queue: str
) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL + key)
    environment = {**os.environ, "AIRFLOW_HOME": str(tmp_path / "airflow")}
    argv = [sys.executable, "-c", CODE, str(path)]
    ended = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert ended.stdout.split()[-2:] == ["15", queue]
