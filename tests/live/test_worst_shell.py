"""Whole studies in shells that are furnished for other software, from a checkout in an unusual folder."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from density_study.dags.airflow_home.home import project_root
from tests.live.support.command import SPEC, left_of
from tests.security.shell.hostile import hostile

pytestmark = [pytest.mark.live, pytest.mark.timeout(1800)]
ONE_TRIAL = ("--only", "testdfsio-write-n3")
TAKEN = ("PATH", "HOME", "JAVA_HOME", "XDG_CACHE_HOME", "DENSITY_STUDY_CACHE", "UV_DEFAULT_INDEX",
         "UV_OFFLINE", "PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_CERT", "SSL_CERT_FILE")  # fmt: skip
"""What a user may choose. Mirrors, so that the tests need no other network than `make setup`."""


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("shell")
    (folder / "runtime").mkdir(mode=0o700)
    kept = {name: os.environ[name] for name in TAKEN if name in os.environ}
    return hostile(folder, {**kept, "DENSITY_STUDY_RUNTIME": str(folder / "runtime")})


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory, shell: dict[str, str]) -> Path:
    """A clone's files, set up by `make setup` in that shell."""
    place = tmp_path_factory.mktemp("somewhere") / "Prüf stand ü" / "density study 100%"
    place.mkdir(parents=True)
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=project_root(), capture_output=True, check=True).stdout
    for name in names.decode().split("\0")[:-1]:
        if (project_root() / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes((project_root() / name).read_bytes())
    proxies = ("http_proxy", "https_proxy", "HTTP_PROXY")  # they lead nowhere, and set-up downloads
    environment = {name: value for name, value in shell.items() if name not in proxies}
    ended = subprocess.run(
        ["make", "setup"], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return place


@pytest.fixture
def runs(tmp_path: Path, checkout: Path, shell: Mapping[str, str]) -> Iterator[Path]:
    """Empty; after the test nothing of its runs is left."""
    place = tmp_path / "läufe"
    yield place
    study(checkout, shell, "reap", "--runs", str(place))
    assert [left_of(path.parent) for path in place.glob("*/*/plan.json")] == [[]]


def study(
    checkout: Path,
    environment: Mapping[str, str],
    *arguments: str,
    umask: int = -1,
    first: str = "",
) -> subprocess.CompletedProcess[str]:
    """`study`, after the shell commands `first`."""
    argv = [str(checkout / ".venv/bin/study"), *arguments]
    return subprocess.run(
        ["sh", "-c", f'{first or ":"} && exec "$0" "$@"', *argv],
        env=environment, cwd=checkout, umask=umask, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_default_folder_of_such_a_checkout_is_refused_before_anything_starts(
    checkout: Path, shell: Mapping[str, str]
) -> None:
    ended = study(checkout, shell, "run", str(SPEC))
    assert ended.returncode == 2 and "cannot be used" in ended.stderr
    assert not (checkout / "runs").exists()


def test_too_few_open_files_are_named_before_anything_starts(
    checkout: Path, shell: Mapping[str, str], tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    ended = study(checkout, shell, "run", str(SPEC), "--runs", str(runs), first="ulimit -n 256")
    assert ended.returncode == 2 and "ulimit -n 2048" in ended.stderr
    assert not runs.exists()


def test_a_study_comes_to_its_report_in_the_worst_shell_of_all(
    checkout: Path, shell: Mapping[str, str], runs: Path
) -> None:
    ended = study(checkout, shell, "run", str(SPEC), "--runs", str(runs), umask=0o000)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert measured(runs) == 4
    assert [path.name for path in runs.parent.iterdir()] == [runs.name], "no daemon wrote elsewhere"
    files = [path for path in runs.rglob("*") if not path.is_symlink()]
    assert [path for path in files if path.stat().st_mode & 0o022] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="mount needs root")
def test_without_a_home_with_a_strict_umask_and_a_temporary_folder_that_forbids_programs(
    checkout: Path, shell: Mapping[str, str], runs: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "noexec"
    temporary.mkdir()
    environment = {**shell, "TMPDIR": str(temporary)}
    del environment["HOME"]
    inside = " ".join(("mount -t tmpfs -o noexec,mode=1777 tmpfs", str(temporary)))
    ended = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f'{inside} && exec "$0" "$@"',
         str(checkout / ".venv/bin/study"), "run", str(SPEC), "--runs", str(runs), *ONE_TRIAL],
        env=environment, umask=0o077, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert measured(runs) == 1
    assert [path for path in (runs, *runs.glob("*/2*")) if path.stat().st_mode & 0o077] == []


def measured(runs: Path) -> int:
    """Trials in the report that were measured to their end."""
    (summary,) = runs.glob("*/2*/report/summary.json")
    trials = json.loads(summary.read_text(encoding="utf-8"))["trials"]
    return sum(trial["state"] == "complete" for trial in trials)
