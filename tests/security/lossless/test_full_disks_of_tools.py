"""As test_full_disks.py, for commands that write outside a run: `study capacity` and `study stack`."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.stack.lock import lock_of
from tests.security.lossless.each_write import (
    EXAMPLES,
    FEW,
    emptied,
    fail_each,
    needs_root,
    run,
    small_disk,
)
from tests.support.toy_stack import ToyStack, install

pytestmark = pytest.mark.usefixtures("runtime")
ADD = ("stack", "add", "hadoop", "3.4.77", "--hbase", "2.6.77-hadoop3")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.json"
    assert run("capacity", "fit", "--points", EXAMPLES / "points.csv", "-o", path) == 0
    return path


@pytest.mark.slow
def test_every_write_of_a_plan_and_a_chart(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "place"
    asked = ("--genomes-per-day", 20, "--hosts", EXAMPLES / "catalog.yaml", "--model", model,
             "--draws", 100)  # fmt: skip
    for arguments in (
        ("size", *asked, "-o", place / "plans" / "plan.json"),
        ("whatif", *asked, "-o", place / "chart.svg"),
    ):
        command = lambda: run("capacity", *arguments)  # noqa: B023, E731
        fail_each(command, place, capsys, emptied(place), FEW)


def test_every_write_of_a_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "place"
    trace = ("capacity", "import-trace", EXAMPLES / "trace.txt", "-o", place / "mine.yaml")
    fail_each(lambda: run(*trace), place, capsys, emptied(place), FEW)


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ToyStack:
    """A Maven that delivers these jars for every version."""
    made = install(tmp_path, monkeypatch)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    (made.repository / "netty-handler-4.1.7.Final.jar").write_bytes(b"netty" * 10_000)
    made.recipe.lock.write_text(lock_of(made.repository).text())
    return made


@pytest.mark.slow
def test_every_write_of_an_added_version(
    toy: ToyStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lock that is whole may stay: it is what Maven delivered."""
    cache = tmp_path / "cache"
    fail_each(lambda: run(*ADD), cache, capsys, emptied(cache), FEW, parts=True)


def test_every_write_of_a_bill_of_materials(
    toy: ToyStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "place"
    command = lambda: run("stack", "sbom", "toy", "--output", place / "toy.cdx.json")  # noqa: E731
    fail_each(command, place, capsys, emptied(place), FEW)


@needs_root
def test_a_version_is_added_on_caches_of_all_sizes(
    toy: ToyStack,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where Maven, or what it starts, finds the disk full."""
    results = []
    for kib in range(4, 300, 24):
        with small_disk(tmp_path / f"disk{kib}", kib) as disk:
            monkeypatch.setenv("DENSITY_STUDY_CACHE", str(disk / "cache"))
            capsys.readouterr()
            results.append(run(*ADD))
            text = " ".join(capsys.readouterr().err.split())
            if results[-1]:
                assert "is full" in text and str(disk) in text, text
                assert "remedy:" in text and "Traceback" not in text, text
                assert not list(disk.rglob(".*.assembling")), text
    assert results[0] == 1 and results[-1] == 0, results
