"""A table is loaded once on real daemons; the next build, with other regions, gets it from a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.state.events import BuildDestroyed, Intent, TableCopied, TablePutBack
from density_study.cluster.state.journal import Journal
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from tests.live.support.command import run_of

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(600)]

SPEC = Path(__file__).with_name("load_once.yaml")
ROWS = 60_000


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(tmp_path_factory.mktemp("runs"), SPEC, timeout_s=500)


def manifests(run: Path) -> list[Manifest]:
    return sorted(closed_records(run / "records").values(), key=lambda one: one.order)


def loads(run: Path, build: str) -> int:
    """Clients that loaded the table in a build: each leaves its output in the logs of a record."""
    return len(list((run / "records").glob(f"{build}-*/logs/ycsb-1.out")))


def test_the_second_build_loads_nothing_and_has_the_same_rows(run: Path) -> None:
    journal = Journal(run / "journal.jsonl")
    (copied,), (put,) = journal.events(TableCopied), journal.events(TablePutBack)
    first, later = manifests(run)
    assert (first.state, later.state) == ("complete", "complete"), (first.reasons, later.reasons)
    assert (loads(run, first.build), loads(run, later.build)) == (1, 0)
    assert put.tag.endswith(f"/{later.build}") and copied.state.rows == ROWS
    assert put.name == copied.name


def test_its_regions_are_those_of_its_own_servers(run: Path) -> None:
    first, later = (one.state_before["hbase"] for one in manifests(run))
    regions = sorted(len(state["regions"]) for state in (first, later))
    assert regions == [3, 6]  # three for each server: the copy was split, or put together
    for state in (first, later):
        assert {one["store_files"] for one in state["regions"]} == {1}
        assert min(one["locality"] for one in state["regions"]) == 1.0
    sizes = [state["store_file_mib"] for state in (first, later)]
    assert abs(sizes[0] - sizes[1]) <= 6, sizes


def test_the_copy_is_removed_with_the_run(run: Path) -> None:
    journal = Journal(run / "journal.jsonl")
    (copied,) = journal.events(TableCopied)
    made = [
        one.path
        for one in journal.events(Intent)
        if one.act == "make-dir" and one.tag == copied.tag
    ]
    assert made == [copied.path] and not Path(copied.path).exists()
    assert [one.build for one in journal.events(BuildDestroyed)][-1] == "copies"
