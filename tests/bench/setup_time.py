"""Set-up from nothing and again, in its own clone with empty caches."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from tests.bench.measurement import Measurement, at_most

PROJECT = Path(__file__).parent.parent.parent


def bench(repeats: int) -> list[Measurement]:
    """Clones the committed state; needs the package registries."""
    first, again = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(prefix="density-bench-") as folder:
            clone, env = Path(folder) / "clone", empty_caches(Path(folder))
            subprocess.run(["git", "clone", "-q", str(PROJECT), str(clone)], check=True)
            first.append(_timed(clone, env))
            again.append(_timed(clone, env))
    return [at_most("set-up from nothing", "s", first, 180), at_most("set-up again", "s", again, 5)]


def empty_caches(folder: Path) -> dict[str, str]:
    """The environment with every cache of the set-up moved to empty folders."""
    own = {
        "UV_CACHE_DIR": str(folder / "uv"),
        "PIP_NO_CACHE_DIR": "1",
        "DENSITY_STUDY_CACHE": str(folder / "stacks"),
        "MAVEN_OPTS": f"-Duser.home={folder / 'home'}",
    }
    return {**os.environ, **own}


def _timed(clone: Path, env: dict[str, str]) -> float:
    start = time.monotonic()
    subprocess.run(["make", "setup"], cwd=clone, env=env, check=True, capture_output=True)
    return time.monotonic() - start
