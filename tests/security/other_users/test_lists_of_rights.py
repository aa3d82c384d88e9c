"""A folder of runs with a default list of rights (`setfacl -d -m u:nobody:rwx`), which no umask restricts:
that user may read what a run and an import write there, and change nothing."""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.state import own_runs
from density_study.jobs import pipeline
from tests.security.lossless.each_write import run
from tests.security.lossless.simulated import SPEC, rehearse

NOBODY = 65534
SAMPLE = Path(__file__).parents[2] / "samples/ycsb-0.17.0_both.out"


@pytest.fixture
def shared(tmp_path: Path, runtime: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(pipeline, "analyse", lambda _: None)
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    entries = ((1, 7, -1), (2, 7, NOBODY), (4, 7, -1), (16, 7, -1), (32, 5, -1))
    rights = b"".join(struct.pack("<HHI", *one[:2], one[2] & 0xFFFFFFFF) for one in entries)
    try:
        os.setxattr(folder, "system.posix_acl_default", struct.pack("<I", 2) + rights)
    except OSError as error:
        pytest.skip(f"this file system has no lists of rights: {error}")
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


def test_what_a_run_writes_stays_its_users(shared: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(SPEC)
    assert rehearse(tmp_path / "tiny.yaml", shared) == 0
    (root,) = shared.glob("tiny/2*Z")
    assert others_may_write(shared) == []
    assert own_runs.refusal(root) == "" and reap(shared).left_alone == ()
    readable = os.getxattr(root, "system.posix_acl_default")
    assert struct.pack("<HHI", 2, 5, NOBODY) in readable, "who could read, still can"


def test_what_an_import_writes_stays_its_users(shared: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    shutil.copy(SAMPLE, theirs)
    assert run("import", theirs, "--init") == 0
    assert run("import", theirs, "--runs", shared) == 0
    assert others_may_write(shared) == []
