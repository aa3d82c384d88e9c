"""A folder of runs with a default list of rights (`setfacl -d -m u:nobody:rwx`), which no umask restricts:
that user may read what a run and an import write there, and change nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.state import own_runs
from tests.security.lossless.each_write import run
from tests.security.lossless.simulated import rehearse
from tests.security.other_users.rights import NOBODY, entry, set_rights


@pytest.fixture
def shared(tmp_path: Path, runtime: None, unanalysed: None) -> Path:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    set_rights(folder, "default", group=7, others=5)
    (folder / "control").mkdir()
    assert others_may_write(folder) == ["control"], "else the list has no effect"
    (folder / "control").rmdir()
    return folder


def others_may_write(folder: Path) -> list[str]:
    """With a list of rights, the mode's bits of the group are the most that anybody but the owner has."""
    paths = (path for path in sorted(folder.rglob("*")) if not path.is_symlink())
    return [
        str(path.relative_to(folder))
        for path in paths
        if path.stat().st_mode & own_runs._OTHERS_WRITE
    ]


def test_what_a_run_writes_stays_its_users(shared: Path, spec: Path) -> None:
    assert rehearse(spec, shared) == 0
    (root,) = shared.glob("tiny/2*Z")
    assert others_may_write(shared) == []
    assert own_runs.refusal(root) == "" and reap(shared).left_alone == ()
    readable = os.getxattr(root, "system.posix_acl_default")
    assert entry(2, 5, NOBODY) in readable, "who could read, still can"


def test_what_an_import_writes_stays_its_users(shared: Path, theirs: Path) -> None:
    assert run("import", theirs, "--init") == 0
    assert run("import", theirs, "--runs", shared) == 0
    assert others_may_write(shared) == []
