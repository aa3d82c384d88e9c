"""The executors' Python archive works without this machine's files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from density_study.jobs.spark.python_archive import PYTHON, ensure_python_archive

CODE = """
import sys
import fsspec.implementations.webhdfs, density_study.jobs.ingest.parse_task, pyarrow.dataset
import density_study.jobs.facts.of_trials
print(sys.prefix)
print(*sys.path)
"""


@pytest.mark.slow
def test_the_archive_is_self_contained(tmp_path: Path) -> None:
    # With tar, as YARN does: Debian 12's Python cannot unpack with a filter.
    subprocess.run(["tar", "-xf", ensure_python_archive(), "-C", tmp_path], check=True)
    argv = [str(tmp_path / PYTHON), "-c", CODE]
    done = subprocess.run(argv, env={}, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    prefix, paths = done.stdout.splitlines()
    assert prefix == str(tmp_path) != sys.prefix
    assert all(path == "" or path.startswith(str(tmp_path)) for path in paths.split(" "))


@pytest.mark.slow
def test_the_archive_is_built_once() -> None:
    archive = ensure_python_archive()
    before = archive.stat().st_mtime_ns
    assert ensure_python_archive() == archive
    assert archive.stat().st_mtime_ns == before
