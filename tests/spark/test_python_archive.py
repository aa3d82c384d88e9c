"""The executors' Python archive works without this machine's files."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from density_study.jobs.spark.python_archive import LOADED, PYTHON, ensure_python_archive

IMPORTS = """
import sys
class Lacking:
    def find_spec(name, *_):
        if name in sys.argv[1:]:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Lacking)
import fsspec.implementations.webhdfs, density_study.jobs.ingest.parse_task, pyarrow.dataset
import density_study.jobs.facts.of_trials
"""
CODE = f"""{IMPORTS}
print(sys.prefix)
print(*sys.path)
"""


def test_tasks_import_nothing_that_the_archive_lacks() -> None:
    """As the next test shows in the archive itself, in a second."""
    there = {*LOADED, "density-study"}
    lacking = [name for name, of in packages_distributions().items() if not there & set(of)]
    assert {"pydantic", "pyspark", "pandas"} <= set(lacking)
    argv = [sys.executable, "-c", IMPORTS, *lacking]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


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
