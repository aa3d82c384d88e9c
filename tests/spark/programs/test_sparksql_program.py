"""The program of `sparksql`, with a Spark of its own on plain files: its answers follow from the rows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from density_study.cluster.stack.java import find_java
from density_study.workloads import sparksql
from density_study.workloads.sparksql.output import answer_faults, parse_queries
from density_study.workloads.sparksql.queries import ROW_BYTES

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

ROWS = 20_000


def program(*arguments: str) -> None:
    options = (
        "--master local[2] --driver-java-options -XX:TieredStopAtLevel=1 --conf spark.ui.enabled=false "
        "--conf spark.driver.bindAddress=127.0.0.1 --conf spark.sql.shuffle.partitions=3 pyspark-shell"
    )
    env = os.environ | {"JAVA_HOME": str(find_java().home), "PYSPARK_SUBMIT_ARGS": options}
    argv = [sys.executable, str(Path(sparksql.__path__[0]) / "program.py"), *arguments]
    done = subprocess.run(argv, env=env, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def test_the_table_has_its_size_and_every_query_its_answer(tmp_path: Path) -> None:
    table, result = tmp_path / "table", tmp_path / "queries.csv"
    program(table.as_uri(), "--make", str(ROWS), "--files", "3")
    parts = list(table.glob("part-*.parquet"))
    assert len(parts) == 3 and (table / "_SUCCESS").exists()
    assert sum(part.stat().st_size for part in parts) == pytest.approx(ROWS * ROW_BYTES, rel=0.1)
    program(table.as_uri(), "--result", str(result))
    found = parse_queries(result.read_bytes(), result.name)
    assert (found.parsed, found.quarantined) == (3, ())
    assert list(answer_faults(found, ROWS)) == []
    assert len(list(answer_faults(found, ROWS + 1000))) == 3
