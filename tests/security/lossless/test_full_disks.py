"""Every write of a command fails once: a message, exit code 1, nothing half-written, and the next run of the
command gives the same as if nothing had happened."""

from __future__ import annotations

import errno
import resource
import shutil
from pathlib import Path

import pytest

from density_study.cluster.state.file_fault import file_fault
from density_study.workloads.planning.plan import write_plan
from density_study.workloads.tables import TABLES, TRIALS
from density_study.workloads.tables.store import write_rows
from tests.security.lossless.each_write import (
    ERRORS,
    EXAMPLES,
    FEW,
    TWO,
    emptied,
    fail_each,
    needs_root,
    run,
    small_disk,
    tree,
)
from tests.support.drafts import QUICKSTART, plan
from tests.support.hostile.failing_writes import Writes, watched
from tests.support.made_runs.nightly_runs import nightly, run_id, write_run

pytestmark = pytest.mark.usefixtures("runtime")

INIT = ("--provider", "local", "--densities", "1,2", "--memory-gib", "8", "--repetitions", "2")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "place" / "runs"


@pytest.mark.usefixtures("unanalysed")
@pytest.mark.parametrize("every", [13, pytest.param(1, marks=pytest.mark.thorough)])
def test_every_write_of_an_import(
    every: int, theirs: Path, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("import", theirs, "--init") == 0
    command = lambda: run("import", theirs, "--runs", runs)  # noqa: E731
    errors = ERRORS if every == 1 else FEW
    fail_each(command, runs.parent, capsys, emptied(runs.parent), errors, every)


@pytest.mark.thorough
def test_every_write_of_a_draft(
    theirs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "place"
    for arguments in (
        ("import", theirs, "--init", "--map", place / "map.yaml"),
        ("init", place / "study.yaml", *INIT),
    ):
        fail_each(lambda: run(*arguments), place, capsys, emptied(place), TWO, 9)  # noqa: B023


@pytest.mark.thorough
def test_every_write_of_an_export(
    tmp_path: Path, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "analysed"
    for table in TABLES.values():
        write_rows(root, table, [])
    write_rows(root, TRIALS, [{"study": "theirs", "run": "r1", "trial": "t"}])
    place = tmp_path / "place"
    command = lambda: run("export", root, "--to", place / "out")  # noqa: E731
    fail_each(command, place, capsys, emptied(place), FEW, 29, parts=True)


@pytest.mark.slow
def test_every_write_of_a_capacity_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, points = tmp_path / "place", EXAMPLES / "points.csv"
    command = lambda: run("capacity", "fit", "--points", points, "-o", place / "model.json")  # noqa: E731
    fail_each(command, place, capsys, emptied(place), FEW)


@pytest.mark.thorough
def test_every_write_of_a_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, runs = tmp_path / "place", tmp_path / "runs"
    for number in (1, 2):
        root = write_run(runs, nightly(number, 100.0))
        shutil.copy(QUICKSTART, root / "study.yaml")
        write_plan(plan(), root / "plan.json")
    command = lambda: run(  # noqa: E731
        "compare",
        runs / "nightly" / run_id(1),
        runs / "nightly" / run_id(2),
        "--html",
        place / "pair.html",
    )
    fail_each(command, place, capsys, emptied(place), FEW)


@pytest.mark.thorough
def test_a_hub_that_cannot_be_written_is_reported_and_the_old_one_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from density_study.analysis.hub.page import rebuild

    write_run(tmp_path, nightly(1, 100.0))
    rebuild(tmp_path)
    before = (tmp_path / "index.html").read_bytes()
    for first in range(3):
        caplog.clear()
        with watched(Writes(tmp_path, errno.ENOSPC, first)):
            rebuild(tmp_path)
        assert "results hub was not written" in caplog.text
        assert (tmp_path / "index.html").read_bytes() == before


def test_every_write_of_ingest(theirs: Path, runs: Path, unanalysed: None) -> None:
    from density_study.cluster.model.errors import StudyError
    from density_study.jobs import pipeline

    assert run("import", theirs, "--init") == 0
    assert run("import", theirs, "--runs", runs) == 0
    (root,) = (runs / "theirs").glob("2*Z")
    records = tree(root / "records")

    def fresh() -> None:
        shutil.rmtree(root / "tables", ignore_errors=True)

    with watched(Writes(root)) as writes:
        pipeline.run_stage("ingest", root)
    undisturbed = tree(root / "tables")
    steps = range(0, len(writes.seen), max(1, len(writes.seen) // 5))
    for first in steps:
        fresh()
        with (
            watched(Writes(root, errno.ENOSPC, first)),
            pytest.raises(StudyError, match=r"is full \(.* MiB and .* inodes free"),
        ):
            pipeline.run_stage("ingest", root)
        assert tree(root / "records") == records
        pipeline.run_stage("ingest", root)
        assert tree(root / "tables").keys() == undisturbed.keys(), writes.seen[first]
        assert tree(root / "tables") == undisturbed, writes.seen[first]


@needs_root
@pytest.mark.usefixtures("unanalysed")
def test_an_import_on_disks_of_all_sizes(
    theirs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A disk that takes the file's first bytes and no more: the kernel's own error, which names no path."""
    assert run("import", theirs, "--init") == 0
    results = []
    for kib in range(4, 80, 8):
        with small_disk(tmp_path / f"disk{kib}", kib) as disk:
            capsys.readouterr()
            results.append(run("import", theirs, "--runs", disk / "runs"))
            text = capsys.readouterr().err
            if results[-1]:
                assert "is full" in text and str(disk) in text, text
                assert tree(disk) == {}
    assert set(results[:2]) == {1} and results[-1] == 0, results


def test_a_limit_for_files_is_named(
    theirs: Path, runs: Path, capsys: pytest.CaptureFixture[str], unanalysed: None
) -> None:
    assert run("import", theirs, "--init") == 0
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, before[1]))
    try:
        assert run("import", theirs, "--runs", runs) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "ulimit -f" in capsys.readouterr().err


def test_a_bug_is_no_full_disk() -> None:
    for error in (OSError("without a number"), ConnectionRefusedError(errno.ECONNREFUSED, "x"),
                  KeyError("x"), FileNotFoundError(errno.ENOENT, "x", "y")):  # fmt: skip
        assert file_fault(error) is None


def test_a_cause_counts_and_a_context_does_not() -> None:
    full = OSError(errno.ENOSPC, "x", "/tmp/x")
    caused, beside = ValueError("x"), ValueError("x")
    caused.__cause__, beside.__context__ = full, full
    assert file_fault(caused) is not None
    assert file_fault(beside) is None
