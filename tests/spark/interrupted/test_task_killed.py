"""An ingest task killed while writing: Spark runs it again, and no partial file enters a table."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from density_study.jobs.ingest import ingest
from density_study.workloads.tables import TABLES
from density_study.workloads.tables.store import read_table
from tests.support.records.factory import RUN, RunFactory

pytestmark = pytest.mark.spark

SCRIPT = """
import os, signal, sys
from pathlib import Path

from density_study.jobs.ingest import ingest, parse_task
from density_study.jobs.spark.session import Engine
from density_study.jobs.spark.session import spark_session, use

root = Path(sys.argv[1])
killed = root / "killed"

def killed_once(files, folder):
    if not killed.exists():
        killed.touch()
        def close(part):
            part.flush()
            os.kill(os.getpid(), signal.SIGKILL)  # rows are written, the file has no footer
        parse_task._Part.close = close
    return parse_task.parse_files(files, folder)

ingest.parse_files = killed_once
ingest.SMALL_BYTES = 0
ingest.BYTES_PER_TASK = 1
use(Engine({"spark.master": "local[2,3]"}))  # three attempts a task
ingest.ingest(spark_session, root)
"""


def create_run(folder: Path) -> Path:
    factory = RunFactory(folder / RUN)
    for threads in (1, 2):
        factory.ycsb("b1-v1-flash", seconds=3, rate=40, threads=threads)
    factory.dfsio("b1-v2-flash", "write")
    return factory.close()


def tables(root: Path) -> dict[str, pd.DataFrame]:
    existing = [name for name in TABLES if (root / "tables" / name).exists()]
    return {name: read_table(root, TABLES[name]) for name in existing}


@pytest.mark.slow
def test_a_task_killed_while_writing_is_harmless(tmp_path: Path) -> None:
    root = create_run(tmp_path / "runs")
    script = tmp_path / "killed_once.py"
    script.write_text(SCRIPT)
    process = subprocess.run(
        [sys.executable, str(script), str(root)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}, capture_output=True, text=True,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr[-3000:]
    assert (root / "killed").exists()
    after = tables(root)
    remaining = {path.name for path in (root / "tables").iterdir()}
    assert remaining == {*after, "ingested.json"}
    shutil.rmtree(root / "tables")
    ingest.ingest(lambda: pytest.fail("so little is parsed without a session"), root)
    undisturbed = tables(root)
    assert after.keys() == undisturbed.keys() and len(after) > 15
    for name, table in undisturbed.items():
        pd.testing.assert_frame_equal(table, after[name], check_exact=True, obj=name)
