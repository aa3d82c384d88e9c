"""The Python that executors get works where nothing of this machine is to be found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jobs.spark.python_archive import PYTHON, ensure_python_archive

CODE = """
import sys
import fsspec.implementations.webhdfs, jobs.ingest.parse_task, pyarrow.dataset
print(sys.prefix)
print(*sys.path)
"""


@pytest.mark.slow
def test_it_needs_nothing_of_this_machine(tmp_path: Path) -> None:
    # By tar, as YARN does: Debian 12's Python cannot unpack with a filter.
    subprocess.run(["tar", "-xf", ensure_python_archive(), "-C", tmp_path], check=True)
    argv = [str(tmp_path / PYTHON), "-c", CODE]
    done = subprocess.run(argv, env={}, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    prefix, paths = done.stdout.splitlines()
    assert prefix == str(tmp_path) != sys.prefix
    assert all(path == "" or path.startswith(str(tmp_path)) for path in paths.split(" "))


def test_it_is_made_once() -> None:
    made = ensure_python_archive()
    before = made.stat().st_mtime_ns
    assert ensure_python_archive() == made
    assert made.stat().st_mtime_ns == before
