"""Containers need root and runc; without them these tests are skipped, and a skip is not a pass."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

HERE = Path(__file__).parent
_ABLE = os.geteuid() == 0 and shutil.which("runc", path="/usr/sbin:/usr/bin") is not None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not _ABLE and item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.skip(reason="needs root and runc (tests/packages.sh)"))
