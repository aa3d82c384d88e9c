"""`study watch` of a stranger's run that seems to be under way: its open files are plain, or left out."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from density_study.dags.run_status.live import nodes_cpu, sample
from tests.support.hostile.files import HOSTILE, link

pytestmark = pytest.mark.usefixtures("watchdog")


WAYS: dict[str, Callable[[Path], object]] = {
    **{name: HOSTILE[name] for name in ("pipe", "device", "link", "endless", "folder")},
    "link to itself": link("x.err"),
}


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("name", ["raw/x.err", "monitor/x.dool.csv", "monitor/x.nodecpu.csv"])
def test_what_is_no_plain_file_shows_nothing(name: str, how: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    WAYS[how](path)
    now = os.lstat(path).st_mtime
    seen = sample(tmp_path, now, "raw", 1.0)
    assert seen.ops_s is None and seen.cpu_used_percent is None
    assert nodes_cpu(tmp_path, now, 1.0) == ""
