"""CPU time of a JVM's compilers is the kernel's count of their threads, and of no other thread."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from density_study.workloads.ycsb.warming.servers import compilers_cpu_s

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def thread(proc: Path, tid: int, name: str, user: int, system: int) -> None:
    folder = proc / "7" / "task" / str(tid)
    folder.mkdir(parents=True)
    fields = ["S", *["0"] * 10, str(user), str(system), *["0"] * 36]
    (folder / "stat").write_text(f"{tid} ({name}) {' '.join(fields)}\n")


def test_threads_of_compilers_are_added_up(tmp_path: Path) -> None:
    thread(tmp_path, 7, "java", 1000, 1000)
    thread(tmp_path, 8, "C2 CompilerThre", 30, 4)
    thread(tmp_path, 9, "C1 CompilerThre", 5, 1)
    thread(tmp_path, 10, "a (strange) C2 C", 500, 500)
    (tmp_path / "7" / "task" / "11").mkdir()  # it ended meanwhile
    assert compilers_cpu_s(7, tmp_path) == pytest.approx(40 * TICK_S)


def test_a_process_that_ended_has_no_count(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        compilers_cpu_s(8, tmp_path)
