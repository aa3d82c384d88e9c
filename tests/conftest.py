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
GROUPS = {"live": "real daemons", "dag": "Airflow", "browser": "pages"}


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Group the tests for `--dist loadgroup`: a group runs in one worker, in order.

    One group are all real daemons, because one cluster may run at a time, and one all of Airflow's web
    servers. Elsewhere each file is a group: its tests share fixtures and ports.
    """
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            room = item.path.relative_to(HERE).parts[0]
            item.add_marker(pytest.mark.xdist_group(GROUPS.get(room, str(item.path))))
