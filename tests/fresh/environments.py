"""Environments with an Airflow of their own: the locked one with Celery, and another minor version.

uv makes them once, in the cache; the project in them is this checkout.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from density_study.cluster.stack.cache import cache_root
from density_study.cluster.state.atomic import locked
from density_study.dags.airflow_home.home import project_root

UV = project_root() / ".uv" / "bin" / "uv"
OTHER_AIRFLOW = "3.2.2"
"""The oldest minor version that docs/how-to/your-own-airflow.md names; the lock has the newest."""
AS_OF = "2026-06-15"
"""Airflow with the libraries of that day, as its own constraints have them: newer ones break it."""


def locked_with_celery() -> Path:
    """Python of an environment with the packages of uv.lock, Celery among them."""
    lock = project_root() / "uv.lock"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    place = cache_root() / "test-airflow" / f"celery-{digest}"

    def fill(python: Path) -> None:
        wanted = place / "requirements.txt"
        extras = [word for name in ("celery", "spark", "report") for word in ("--extra", name)]
        _uv("export", "--frozen", *extras, "--no-dev", "--no-emit-project", "-o", str(wanted))
        _uv("pip", "sync", "--python", str(python), "--require-hashes", str(wanted))

    return _environment(place, fill)


def other_airflow() -> Path:
    """Python of an environment with another minor version of Airflow."""
    place = cache_root() / "test-airflow" / f"{OTHER_AIRFLOW}-{AS_OF}"

    def fill(python: Path) -> None:
        wanted, then = place / "wanted.txt", place / "constraints.txt"
        wanted.write_text(f"apache-airflow=={OTHER_AIRFLOW}\n")
        compiled = ("--python", str(python), "--exclude-newer", AS_OF, "-o", str(then))
        _uv("pip", "compile", *compiled, str(wanted))
        ours = f"{project_root()}[spark,report]"
        _uv("pip", "install", "--python", str(python), "-c", str(then), "-r", str(wanted), ours)

    return _environment(place, fill)


def _environment(place: Path, fill: Callable[[Path], None]) -> Path:
    python, ready = place / "bin" / "python", place / ".ready"
    place.parent.mkdir(parents=True, exist_ok=True)
    with locked(place.with_suffix(".lock")):
        if not ready.exists():
            _uv("venv", "--clear", "--python", sys.executable, str(place))
            fill(python)
            ready.touch()
        # Another checkout may have used it before.
        _uv("pip", "install", "--python", str(python), "--no-deps", "-e", str(project_root()))
    return python


def _uv(*arguments: str) -> None:
    argv = [str(UV), "--quiet", *arguments]
    if arguments[:2] in (("pip", "sync"), ("pip", "install")):
        argv.append("--compile-bytecode")
    done = subprocess.run(argv, capture_output=True, text=True, cwd=project_root(), check=False)
    assert done.returncode == 0, f"{' '.join(argv)}\n{done.stderr[-3000:]}"
