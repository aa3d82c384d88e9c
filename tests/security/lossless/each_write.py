"""A command of which each write fails once, and what it may leave."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from density_study.cluster.state.own_runs import KEY
from density_study.dags.cli import main as cli
from tests.support.hostile.failing_writes import Writes, watched

EXAMPLES = Path(__file__).parents[3] / "analysis/capacity/inputs/examples"
ERRORS = {
    errno.ENOSPC: "is full",
    errno.EDQUOT: "quota",
    errno.EROFS: "is read-only",
    errno.EACCES: "no permission",
    errno.EMFILE: "ulimit -n",
}
OF_DISKS = {one: ERRORS[one] for one in (errno.ENOSPC, errno.EROFS)}
FEW = {errno.ENOSPC: "is full"}
TWO = {errno.EACCES: "no permission", errno.ENOSPC: "is full"}


def run(*arguments: object) -> int:
    """The exit code of `study ...`, in this process."""
    before = sys.argv
    sys.argv = ["study", *map(str, arguments)]
    try:
        cli.main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = before
    return 0


def tree(folder: Path) -> dict[str, bytes]:
    """Every visible file below the folder but random keys, by a name without the id of its run."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    named = {path.relative_to(folder).as_posix(): path for path in files}
    return {
        re.sub(r"\d{8}T\d{6}Z", "RUN", name): _timeless(path)
        for name, path in named.items()
        if not any(part.startswith(".") for part in Path(name).parts) and path.name != KEY
    }


def _timeless(path: Path) -> bytes:
    if path.suffix == ".parquet" or path.suffix == ".csv":
        return path.read_bytes()
    times = rb"\d{8}T\d{6}Z|\d+\.\d+(?=,)|[\dT:.-]+(?:Z\b|\+00:00)|[0-9a-f]{64}"
    return re.sub(times, b"#", path.read_bytes())


def fail_each(
    command: Callable[[], int],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    fresh: Callable[[], None],
    errors: dict[int, str] = ERRORS,
    every: int = 1,
    parts: bool = False,
) -> None:
    """Run `command` with each of its writes below `folder` failing (or one of `every`), and again without.
    A failure leaves nothing; with `parts`, whole files at most."""
    fresh()
    before = tree(folder)
    with watched(Writes(folder)) as writes:
        assert command() == 0
    undisturbed, count = tree(folder), len(writes.seen)
    assert count > 0
    for number, words in errors.items():
        steps = range(0, count, every) if number == errno.ENOSPC else {0, count // 2, count - 1}
        for first in steps:
            fresh()
            capsys.readouterr()
            where = f"{errno.errorcode[number]} at {writes.seen[first]}"
            with watched(Writes(folder, number, first, removals=number == errno.EROFS)):
                code = command()
            text = capsys.readouterr().err
            assert code == 1, (where, text)
            assert words in " ".join(text.split()), (where, text)
            assert "remedy:" in text and "Traceback" not in text, (where, text)
            left = tree(folder)
            assert left == before or (parts and left.items() <= undisturbed.items()), where
            assert command() == 0, where
            assert tree(folder) == undisturbed, where


def emptied(folder: Path) -> Callable[[], None]:
    def fresh() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    return fresh


@contextmanager
def small_disk(folder: Path, kib: int) -> Iterator[Path]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


needs_root = pytest.mark.skipif(os.getuid() != 0, reason="mounts a small disk")
