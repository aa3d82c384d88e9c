"""A run that cannot be opened, because a write fails, leaves nothing: no folder, no lease."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state import lease
from density_study.cluster.state.file_fault import as_study_errors
from density_study.cluster.state.journal import run_folders
from density_study.cluster.state.owner import Owner
from density_study.workloads.execution import opening
from density_study.workloads.execution.opening import RunRequest, open_run
from density_study.workloads.execution.run import Run
from tests.support.drafts import QUICKSTART, host
from tests.support.hostile.failing_writes import Writes, watched

pytestmark = [pytest.mark.usefixtures("runtime")]


def opened(runs: Path) -> Run:
    owner = Owner.of_process(os.getpid(), holds_lock=True)
    with as_study_errors():
        return open_run(QUICKSTART, runs, request=RunRequest(fresh=True), owner=owner)


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.thorough)])
def test_every_write_of_an_opening(
    every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "preflight", lambda *_: None)
    monkeypatch.setattr(opening, "resolve_hosts", lambda *_: [host()])
    (tmp_path / "runs").mkdir()
    with watched(Writes(tmp_path / "runs")) as writes:
        opened(tmp_path / "runs" / "first")
    lease.release(str(getattr(lease.holder(), "tag", "")))
    for first in range(0, len(writes.seen), every):
        runs = tmp_path / "runs" / f"{first:04}"  # as long as the first one
        with (
            watched(Writes(tmp_path / "runs", errno.ENOSPC, first)),
            pytest.raises(StudyError, match="is full"),
        ):
            opened(runs)
        where = writes.seen[first]
        assert run_folders(runs) == [], where
        assert not list(runs.glob("*/2*Z")), where
        assert lease.holder() is None, where
        run = opened(runs)
        assert run_folders(runs) == [run.root], where
        assert lease.release(run.tag)
