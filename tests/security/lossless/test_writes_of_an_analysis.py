"""Each kind of write of an analysis fails once, and the whole of it on disks that are full or read-only: a
message, records as they were, and the next analysis gives the same results."""

from __future__ import annotations

import errno
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.jobs import pipeline
from density_study.jobs.stage_names import STAGE_NAMES
from tests.security.lossless.each_write import OF_DISKS, needs_root, run, small_disk, tree
from tests.security.lossless.simulated import kinds, recorded, rehearse, without_analysis
from tests.support.hostile.failing_writes import Writes, watched

pytestmark = [pytest.mark.usefixtures("runtime"), pytest.mark.timeout(0)]
NO_HUB = "results hub was not written"
"""What says so when the page of all runs, on which no run depends, could not be written."""


@pytest.fixture
def measured(spec: Path, tmp_path: Path) -> Path:
    """A run with records."""
    place = tmp_path / "place"
    with without_analysis():
        assert rehearse(spec, place) == 0
    (root,) = place.glob("tiny/2*Z")
    return root


def results(root: Path) -> dict[str, bytes]:
    """Tables, and the summary without what depends on how long analyses took."""
    found = {f"tables/{name}": content for name, content in tree(root / "tables").items()}
    summary = tree(root / "report").get("summary.json", b"")
    return found | {"summary.json": re.sub(rb"\d+\.\d+(?=\s)", b"#", summary)}


@pytest.mark.slow
@pytest.mark.parametrize("many", [1, 20])
def test_each_write_of_an_analysis(
    many: int, measured: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """`many` kinds of each stage, evenly spread; tests/spark/interrupted tries three places of each stage."""
    place = measured.parents[1]
    records = recorded(place)
    tried = 0
    for name in STAGE_NAMES:
        pipeline.run_stage(name, measured)
        with watched(Writes(place)) as writes:  # again: folders are there then
            pipeline.run_stage(name, measured)
        undisturbed, steps = results(measured), kinds(writes.seen, place)
        for number, words in OF_DISKS.items():
            for first in steps[len(steps) // (2 * many) :: -(-len(steps) // many)]:
                caplog.clear()
                fault = ""
                with watched(
                    Writes(place, number, first, removals=number == errno.EROFS)
                ) as failing:
                    try:
                        pipeline.run_stage(name, measured)
                    except StudyError as error:
                        fault = str(error)
                assert len(failing.seen) > first, (writes.seen[first], "was not written again")
                failed = failing.seen[first]
                where = f"{name}: {errno.errorcode[number]} at {failed}"
                if Path(failed.partition(" ")[2]).parent == place:  # of the hub, or its lock
                    assert NO_HUB in caplog.text, (where, fault)
                    # of later writes, which fail too, only the journal's counts
                    assert not fault or (words in fault and "journal.jsonl" in fault), (
                        where,
                        fault,
                    )
                else:
                    assert words in fault, (where, fault)
                assert recorded(place) == records, where
                pipeline.run_stage(name, measured)
                assert results(measured) == undisturbed, where
                tried += 1
    print(f"{tried} failed writes")
    assert tried >= 8 and (measured / "report/index.html").exists()


@pytest.mark.slow
def test_a_page_that_is_not_written_for_a_moment_is_missed(measured: Path) -> None:
    """Great Expectations only logs it, and goes on."""
    pipeline.run_stage("ingest", measured)
    pipeline.run_stage("metrics", measured)
    with watched(Writes(measured)) as writes:
        pipeline.run_stage("verdicts", measured)
    pages = {path.name for path in measured.glob("report/data_docs/*/*.html")}
    for page in ("expectations/load.html", "tables-checks.html"):
        (first, *_) = (at for at, write in enumerate(writes.seen) if write.endswith(page))
        with (
            watched(Writes(measured, errno.ENOSPC, first, once=True)),
            pytest.raises(StudyError, match="1 pages of Great Expectations"),
        ):
            pipeline.run_stage("verdicts", measured)
        pipeline.run_stage("verdicts", measured)
        assert {path.name for path in measured.glob("report/data_docs/*/*.html")} == pages


def copied(run_root: Path, disk: Path) -> Path:
    """The run on the disk, with all of its place."""
    place = run_root.parents[1]
    shutil.copytree(place, disk / "runs", symlinks=True)
    return disk / "runs" / run_root.relative_to(place)


def report(root: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit code and message of `study report`."""
    capsys.readouterr()
    code = run("report", root)
    text = " ".join(capsys.readouterr().err.split())
    assert "Traceback" not in text
    return code, text


@needs_root
@pytest.mark.slow
@pytest.mark.parametrize("free", [(0, 200), (0, 16, 80, 200, 500, 1000)])
def test_a_report_on_disks_of_all_sizes(
    free: tuple[int, ...], measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where Arrow, Java or the kernel find the disk full, whose errors name no path."""
    place = measured.parents[1]
    size_kib = 4 * sum(
        1 + path.stat().st_size // 4096
        for path in (place, *place.rglob("*"))
        if not path.is_symlink()
    )
    records = recorded(place)
    codes = []
    for free_kib in free:
        with small_disk(tmp_path / f"disk{free_kib}", size_kib + free_kib) as disk:
            root = copied(measured, disk)
            code, text = report(root, capsys)
            codes.append(code)
            if code:
                assert "is full" in text and "remedy:" in text and str(disk) in text, text
            assert recorded(disk / "runs") == records, free_kib
            subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
            assert report(root, capsys)[0] == 0, free_kib
            assert (root / "report/index.html").exists() and recorded(disk / "runs") == records
    assert set(codes) <= {0, 1} and sum(codes) >= len(free) / 2, codes


@needs_root
@pytest.mark.slow
def test_a_report_on_a_read_only_disk(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = recorded(measured.parents[1])
    assert records
    with small_disk(tmp_path / "disk", 65536) as disk:
        root = copied(measured, disk)
        for made_before in (False, True):
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
            before = tree(disk)
            code, text = report(root, capsys)
            assert code == 1 and "is read-only" in text and "remedy:" in text, (made_before, text)
            assert tree(disk) == before
            subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
            assert report(root, capsys)[0] == 0
        assert recorded(disk / "runs") == records
