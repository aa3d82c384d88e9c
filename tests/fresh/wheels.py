"""Install a wheel with all extras for each Python of this machine that may have it, and plan a study there.

    python -m tests.fresh.wheels dist/density_study-0.2.0-py3-none-any.whl

uv looks for interpreters and downloads none. A Python that the wheel refuses is named. The changelog must
begin with the wheel's version.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from density_study.dags.airflow_home.home import project_root

UV = project_root() / ".uv" / "bin" / "uv"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
MISSING, REFUSED = "not on this machine", "refused by requires-python"
COMMANDS = ("--version", "plan quickstart", "schema", "example points.csv points.csv",
            "capacity fit --points points.csv -o model.json")  # fmt: skip


def changelog_fault(changelog: str, version: str) -> str | None:
    """Why the changelog may not go with a version of hatch_build.py; None: it may. Commits after a tag have
    the section of the tag, of a later version, or *Unreleased*."""
    top, *_ = re.findall(r"^## (\S+)$", changelog, re.M)
    ((tag, commits),) = re.findall(r"^([0-9]+(?:\.[0-9]+)*)(.*)$", version)
    if top == tag or (commits and (top == "Unreleased" or _numbers(top) > _numbers(tag))):
        return None
    return f"CHANGELOG.md begins with {top}, and the version is {version}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def tried(wheel: Path, python: str, folder: Path) -> str:
    """What became of it. CalledProcessError if the wheel cannot be installed, or a command fails."""
    find = ("python", "find", "--no-python-downloads", "--no-project", python)
    found = _run(UV, *find, check=False, env={**os.environ, "PATH": _path()})
    if found.returncode != 0:
        return MISSING
    env = folder / python
    _run(UV, "--quiet", "venv", "--python", found.stdout.strip(), str(env))
    what = f"density-study[all] @ {wheel.resolve().as_uri()}"
    done = _run(
        UV, "--quiet", "pip", "install", "--python", str(env / "bin/python"), what, check=False
    )
    if done.returncode != 0 and "requires-python" in done.stderr.lower():
        return REFUSED
    done.check_returncode()
    home = folder / f"home-{python}"
    home.mkdir()
    printed = [
        _run(env / "bin/study", *line.split(), cwd=home, env=_clean(home)) for line in COMMANDS
    ]
    return f"{printed[0].stdout.strip()}: {len(COMMANDS)} commands"


def _path() -> str:
    """With the versions of pyenv, whose own links on PATH answer for the chosen one only."""
    versions = sorted(Path.home().glob(".pyenv/versions/*/bin"))
    return os.pathsep.join([os.environ["PATH"], *map(str, versions)])


def _clean(home: Path) -> dict[str, str]:
    kept = ("PATH", "LANG", "JAVA_HOME")
    return {"HOME": str(home), **{name: os.environ[name] for name in kept if name in os.environ}}


def _run(
    program: Path,
    *arguments: str,
    check: bool = True,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(program), *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    if check and done.returncode != 0:
        sys.stderr.write(done.stdout[-2000:] + done.stderr[-4000:])
        done.check_returncode()
    return done


def main(arguments: Sequence[str]) -> None:
    (wheel,) = map(Path, arguments)
    version = wheel.name.split("-")[1]
    if fault := changelog_fault((project_root() / "CHANGELOG.md").read_text("utf-8"), version):
        sys.exit(f"error: {fault}")
    results: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        for python in PYTHONS:
            result = tried(wheel, python, Path(folder))
            results.add(result)
            print(f"Python {python}: {result}", flush=True)
    if results <= {MISSING, REFUSED}:
        sys.exit("error: no Python of this machine has run the wheel")


if __name__ == "__main__":
    main(sys.argv[1:])
