"""What all tests share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import settings

# PySpark takes a process whose main module has no file for a doctest, and ends it on import;
# workers of pytest-xdist have none.
if not hasattr(sys.modules["__main__"], "__file__"):
    sys.modules["__main__"].__file__ = __file__

# How fast is asked of `make bench`; on a busy machine an example may take any time.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

HERE = Path(__file__).parent
GROUPS = {"live": "real daemons", "dag": "Airflow", "spark": None, "browser": "pages"}
"""Folder to group; None: each file is a group."""


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What must not run in two workers at once, or shares an expensive fixture, is one group of
    `--dist loadgroup`: all real daemons, Airflow's web servers, and each file of Spark tests."""
    for item in items:
        room = item.path.relative_to(HERE).parts[0]
        if room in GROUPS:
            item.add_marker(pytest.mark.xdist_group(GROUPS[room] or item.path.stem))
