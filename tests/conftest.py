"""Configuration shared by all tests."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from density_study.cluster.machine.other_users import private_network

# PySpark takes a process whose main module has no file for a doctest, and ends it on import;
# workers of pytest-xdist have none.
if not hasattr(sys.modules["__main__"], "__file__"):
    sys.modules["__main__"].__file__ = __file__

os.environ["DENSITY_STUDY_SETTINGS"] = os.devnull  # not those of the person who runs the tests
# The runs of the tests are not registered with those of that person.
_state = tempfile.TemporaryDirectory(prefix="density-study-tests-")
os.environ["DENSITY_STUDY_STATE"] = _state.name

# `make bench` measures speed; on a busy machine an example may take any time.
# A commit passes or fails, whoever tests it and how often. `make live` draws twice as many, others each time.
settings.register_profile("same", max_examples=50, deadline=None, derandomize=True)
settings.register_profile("anew", deadline=None, print_blob=True)
settings.load_profile("same")


class HangError(BaseException):
    """Not a TimeoutError: that is an OSError, which code takes for a file that cannot be read."""


@pytest.fixture
def watchdog() -> Iterator[None]:
    """A time limit within the process, for a test of something that may hang."""

    def hang(*_: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, hang)
    signal.alarm(30)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks and leases of this test only, never the user's."""
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(tmp_path / "runtime"))


@pytest.fixture(autouse=True)
def unsynced(request: pytest.FixtureRequest) -> Iterator[None]:
    """No test ends the machine, and to wait for the disk took a quarter of the time of tests that open runs.
    Live tests do wait: they share the disk with daemons that are measured."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.node.nodeid.startswith("tests/live/"):
            patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture
def shared_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel gives no network namespace: daemons share this machine's network."""
    monkeypatch.setattr(private_network, "obstacle", lambda: "Operation not permitted")


LEFT_OUT = frozenset(
    line.split()[0]
    for line in Path(__file__).with_name("thorough.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make check` does not even import the files of thorough.txt."""
    if "not thorough" not in config.option.markexpr:
        return None
    return collection_path.relative_to(config.rootpath).as_posix() in LEFT_OUT or None


def pytest_itemcollected(item: pytest.Item) -> None:
    if item.nodeid.partition("[")[0] in LEFT_OUT:
        item.add_marker("thorough")


GROUPS = {
    "tests/live/": "real daemons",
    "tests/dag/notify/test_notified": "study run",
    "tests/dag/test_command": "study run",
    "tests/dag/test_other_places": "study run",
    "tests/dag/test_study_dag": "scenarios",
    "tests/dag/": "Airflow",
    "tests/spark/test_documented_commands": "documented commands",
    "tests/spark/": "Spark",
    "tests/browser/": "pages",
    "tests/unit/analysis/report/": "pages",
    "tests/unit/test_pictures": "pages",
    "tests/unit/test_style": "texts",
    "tests/unit/test_vocabulary": "texts",
    "tests/unit/test_reference": "texts",
    "tests/unit/test_architecture": "texts",
    "tests/unit/analysis/test_tables": "texts",
    "tests/unit/analysis/capacity/": "plans",
    "tests/unit/analysis/test_validity": "verdicts",
    "tests/security/outputs/test_data_docs": "verdicts",
}
"""Prefix of a test's path -> its group, where a group is not one file; the first one counts. One cluster
may run at a time, one Airflow serves many tests, and an analysed run, some pages, plans and the texts for
users are created once per process. Great Expectations takes a second to import, which one process pays."""
LONGEST_FIRST = ("Spark", "real daemons", "scenarios", "Airflow", "study run", "pages",
                 "documented commands", "plans")  # fmt: skip
"""What starts last leaves workers idle."""


class ByGroup(LoadScopeScheduling):  # type: ignore[misc]
    """Runs all tests of a group, else of a file, in one worker and in order: they share fixtures
    and ports.

    Replaces pytest-xdist's loadgroup, which has no effect with pytest 9.
    """

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid) or nodeid.partition("::")[0]


def group_of(nodeid: str) -> str | None:
    return next((name for start, name in GROUPS.items() if nodeid.startswith(start)), None)


deselected: list[pytest.Item] = []
"""Collected, and left out by -m."""


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    deselected.extend(items)


gc.disable()  # until all is imported and collected: none of it is garbage


def pytest_collection_finish() -> None:
    gc.freeze()  # imported packages live on: the collector need not look at them after each test
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Starts the groups first: they take longest."""
    place = {name: number for number, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: place.get(group_of(item.nodeid) or "", len(place)))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByGroup:
    return ByGroup(config, log)
