"""Somebody adds files to a folder of studies for Airflow: the others keep their DAGs, and no name of a file
is a template."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from density_study.dags.graph.catalogue import study_files
from tests.support.hostile.files import HOSTILE, link

pytestmark = pytest.mark.usefixtures("watchdog")
STUDY = """\
study: mine
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]
factors: {vms_per_host: [1]}
workloads: [testdfsio: {modes: [write], files: 2, file_size: 1 MiB}]
"""


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def _hard_link(path: Path) -> None:
    """The second name of a file that is no study."""
    path.with_name("hostname").write_text("host\n")
    os.link(path.with_name("hostname"), path)


def _many(path: Path) -> None:
    path.write_text("study: a\n" + "".join(f"k{number}: 1\n" for number in range(9_000)))


FILES: dict[str, Callable[[Path], object]] = {
    **HOSTILE,
    "socket": _socket,
    "many keys": _many,
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to a name that no disk takes": link("/" + "x" * 300 + "/y"),
    "link to a long path": link("/x" * 2_000),
    "hard link": _hard_link,
}
NAMES = (
    b"\xff.yaml",
    b"\xed\xb3\xbf.yaml",
    b"{{ conn.prod.password }}.yaml",
    b"{% for a in range(9) %}{% endfor %}.yaml",
    b"{# #}.yaml",
    b"a\nb.yaml",
    b"\x1b]0;x\x07.yaml",
    "\u0085.yaml".encode(),
)


@pytest.fixture(scope="module")
def airflow_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keeps the outlines of the shipped studies: to plan them takes most of a second."""
    return tmp_path_factory.mktemp("airflow")


@pytest.fixture
def folder(airflow_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "studies"
    folder.mkdir()
    (folder / "good.yaml").write_text(STUDY)
    monkeypatch.setenv("AIRFLOW_HOME", str(airflow_home))
    monkeypatch.setenv("DENSITY_STUDY_STUDIES", str(folder))
    return folder


def faults(folder: Path) -> list[str]:
    """Of all files but the good one, which has its outline."""
    found = {study.path: study for study in study_files() if study.path.parent == folder}
    assert found.pop(folder / "good.yaml").outline is not None
    assert all(study.outline is None for study in found.values())
    return [study.fault for study in found.values()]


@pytest.mark.parametrize("kind", FILES)
def test_a_hostile_file_hides_no_other(folder: Path, kind: str) -> None:
    FILES[kind](folder / "bad.yaml")
    (fault,) = faults(folder)
    assert str(folder / "bad.yaml") in fault and len(fault) < 2_000


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_data(folder: Path, name: bytes) -> None:
    text = STUDY.replace("mine", "other")
    Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text(text)
    (fault,) = faults(folder)
    assert "rename it" in fault and fault.isascii() and "\x1b" not in fault
