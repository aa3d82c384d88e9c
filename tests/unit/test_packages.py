"""Programs that tests need: each missing one is reported with its Debian package to users without
root."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "packages.sh"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A PATH with a shell, for a user who is not root, without root's programs."""
    for name in ("sh", "tr"):
        executable = shutil.which(name)
        assert executable is not None
        (tmp_path / name).symlink_to(executable)
    add(tmp_path, "id", "echo 1000")
    add(tmp_path, "ldconfig", "echo libatomic.so.1")
    return tmp_path


def add(programs: Path, name: str, does: str = "") -> None:
    (programs / name).write_text(f"#!/bin/sh\n{does}\n")
    (programs / name).chmod(0o755)


def packages(programs: Path, *targets: str) -> subprocess.CompletedProcess[str]:
    argv = [str(SCRIPT), *targets]
    return subprocess.run(
        argv, env={"PATH": str(programs)}, capture_output=True, text=True, check=False
    )


def test_a_missing_program_is_named_by_its_package(programs: Path) -> None:
    for name in ("ip", "ps"):
        add(programs, name)
    done = packages(programs, "test")
    assert done.returncode == 2
    assert done.stderr == (
        "error: the tests need more programs; as root: apt-get install chromium curl openssl openssh-client\n"
    )


def test_without_missing_programs_there_is_no_output(programs: Path) -> None:
    for name in ("ip", "ps", "chromium", "curl", "openssl", "ssh-keygen"):
        add(programs, name)
    done = packages(programs, "test")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_missing_library_is_named_by_its_package(programs: Path) -> None:
    for name in ("ip", "ps", "chromium", "curl", "openssl", "ssh-keygen", "ldconfig"):
        add(programs, name)
    assert packages(programs, "test").stderr.endswith("apt-get install libatomic1\n")


def test_packages_of_several_targets_are_named_once_each(programs: Path) -> None:
    named = (
        packages(programs, "live", "vm", "fresh").stderr.partition("apt-get install ")[2].split()
    )
    assert len(named) == len(set(named)) and {"postgresql", "qemu-utils", "mmdebstrap"} <= set(
        named
    )


def test_an_unknown_target_is_refused(programs: Path) -> None:
    assert packages(programs, "tset").returncode != 0


@pytest.mark.parametrize("python", [True, False])
def test_make_test_names_what_set_up_and_what_tests_lack_in_one_round(
    python: bool, programs: Path
) -> None:
    (programs / "grep").symlink_to(str(shutil.which("grep")))
    if python:
        (programs / "python3").symlink_to(Path(sys.executable).resolve())
    add(programs, "apt-get")
    done = subprocess.run(
        [str(shutil.which("make")), "packages-test"],
        cwd=SCRIPT.parents[1], env={"PATH": str(programs)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    for word in ("git", "maven", "jdk", "chromium", "openssl"):
        assert any(
            word in line.partition("apt-get install")[2] for line in done.stderr.splitlines()
        ), (word, done.stderr)
    assert "not found" not in done.stderr
