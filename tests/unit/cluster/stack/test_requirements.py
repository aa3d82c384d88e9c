"""Missing programs of a machine are reported together, with the install command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from density_study.cluster.stack import requirements

FILE = Path(requirements.__file__)
JDK = requirements.JDK_PACKAGES.get(requirements._codename(), "openjdk-21-jdk-headless")


def check(folder: Path, *programs: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """On a PATH with only `programs`, each a script that succeeds."""
    for program in programs:
        (folder / program).write_text("#!/bin/sh\nexit 0\n")
        (folder / program).chmod(0o755)
    env = {"PATH": str(folder), **environment}
    return subprocess.run(
        [sys.executable, str(FILE)], env=env, capture_output=True, text=True, check=False
    )


def test_all_missing_programs_are_named_together_with_the_install_command(tmp_path: Path) -> None:
    ended = check(tmp_path, "apt-get")
    assert ended.returncode == 2
    assert [line.partition(" is needed")[0] for line in ended.stderr.splitlines()][-5:-1] == [
        "error: git", "error: Maven", "error: a JDK 17 or 21", "error: Python 3 with venv",
    ]  # fmt: skip
    assert ended.stderr.splitlines()[-1] == (
        f"remedy: as root: apt-get install git maven {JDK} python3-venv"
    )


@pytest.mark.parametrize(
    ("codename", "package"),
    [
        ("jammy", "openjdk-17-jdk-headless"),
        ("bookworm", "default-jdk-headless"),
        ("trixie", "default-jdk-headless"),
        ("resolute", "openjdk-21-jdk-headless"),
        ("", "openjdk-21-jdk-headless"),
    ],
)
def test_where_the_default_jdk_is_too_old_or_too_new_another_is_named(
    codename: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requirements.shutil, "which", {"apt-get": "/usr/bin/apt-get"}.get)
    assert requirements.install_line({"JDK": ""}, codename) == f"apt-get install {package}"


def test_only_what_is_missing_is_to_be_installed(tmp_path: Path) -> None:
    ended = check(tmp_path, "dnf", "git", JAVA_HOME=str(tmp_path / "none"))
    assert ended.stderr.splitlines()[-1] == (
        "remedy: as root: dnf install maven java-21-openjdk-devel python3"
        "; then set JAVA_HOME to the JDK, or unset it"
    )


def test_a_full_disk_of_the_checkout_or_of_the_cache_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DENSITY_STUDY_CACHE", "/dev/shm/density-study-cache")
    free = {tmp_path: 5000, Path("/dev/shm"): 2000}
    monkeypatch.setattr(
        requirements.shutil, "disk_usage", lambda folder: SimpleNamespace(free=free[folder] * 2**20)
    )
    told = [sentence for sentence in requirements.scarce() if "free in" in sentence]
    assert [sentence.partition(";")[0] for sentence in told] == [
        f"5000 MiB free in {tmp_path}", "2000 MiB free in /dev/shm",
    ]  # fmt: skip
    free |= {tmp_path: 6000, Path("/dev/shm"): 3000}
    assert not [sentence for sentence in requirements.scarce() if "free in" in sentence]


def test_a_python_without_venv_is_named(tmp_path: Path) -> None:
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python3").chmod(0o755)
    assert "python3 lacks the module venv" in check(tmp_path).stderr


def test_an_unknown_distribution_gets_no_command(tmp_path: Path) -> None:
    assert "your distribution's packages" in check(tmp_path).stderr


def test_this_machine_has_all_requirements() -> None:
    ended = subprocess.run(
        [sys.executable, str(FILE)], capture_output=True, text=True, check=False,
        env=dict(os.environ), cwd=FILE.parents[2],
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr


def test_folders_in_which_nothing_can_be_written_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requirements.os, "access", lambda path, _: path != tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("DENSITY_STUDY_CACHE", raising=False)
    (fault,) = requirements.unwritable()
    assert str(tmp_path) in fault and "remedy: set XDG_CACHE_HOME" in fault
    monkeypatch.setattr(requirements.os, "access", lambda *_: True)
    assert not list(requirements.unwritable())
