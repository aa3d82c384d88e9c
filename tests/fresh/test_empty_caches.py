"""`make setup` in a fresh clone with empty caches downloads what locks name, and refuses the rest by name."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.bench.setup_time import PROJECT, empty_caches

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


class Newcomer:
    """A clone of what is committed here, and the caches of a user who has none yet."""

    def __init__(self, folder: Path) -> None:
        self.clone, home, self.stacks = folder / "clone", folder / "home", folder / "stacks"
        self.maven = home / ".m2" / "repository"
        self.environment = empty_caches(folder) | {"HOME": str(home)}
        home.mkdir()
        subprocess.run(["git", "clone", "--quiet", str(PROJECT), str(self.clone)], check=True)

    def make(self, target: str) -> subprocess.CompletedProcess[str]:
        argv = ["make", "--no-print-directory", target]
        return subprocess.run(
            argv, cwd=self.clone, env=self.environment, capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Newcomer:
    made = Newcomer(tmp_path_factory.mktemp("newcomer"))
    done = made.make("setup")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return made


def test_only_locked_jars_were_downloaded(newcomer: Newcomer) -> None:
    """Maven's own repository holds what Maven can run: no plug-in is there."""
    locks = [
        *newcomer.clone.glob("cluster/stack/**/*.sha256"),
        *newcomer.clone.glob("workloads/**/*.sha256"),
    ]
    locked = {line.split()[1] for lock in locks for line in lock.read_text().splitlines()}
    found = {path.name for path in newcomer.maven.rglob("*.jar")}
    assert len(found) > 200 and found <= locked


def test_bills_of_materials_are_written(newcomer: Newcomer) -> None:
    done = newcomer.make("sbom")
    assert done.returncode == 0, done.stderr
    written = sorted(path.name for path in (newcomer.clone / "sbom").iterdir())
    assert written == [f"{name}.cdx.json" for name in ("hadoop", "hbase", "package", "ycsb")]


def test_a_tampered_jar_is_refused_by_name(newcomer: Newcomer) -> None:
    (jar,) = newcomer.maven.rglob("hadoop-hdfs-client-*.jar")
    jar.write_bytes(jar.read_bytes() + b"tampered")
    shutil.rmtree(next(newcomer.stacks.glob("stacks/hadoop-*")))
    done = newcomer.make("setup")
    assert done.returncode != 0
    assert f"{jar.name} has SHA-256" in done.stderr, done.stderr
    jar.unlink()


def test_a_tampered_builder_is_refused_by_name(newcomer: Newcomer) -> None:
    """What the registry delivers is not what uv.lock names, as far as uv can see."""
    lock = newcomer.clone / "uv.lock"
    text = lock.read_text()
    builder = text.index('[[package]]\nname = "hatchling"')
    changed = re.sub(r"sha256:[0-9a-f]{64}", f"sha256:{'0' * 64}", text[builder:], count=2)
    lock.write_text(text[:builder] + changed)
    shutil.rmtree(newcomer.environment["UV_CACHE_DIR"])
    shutil.rmtree(newcomer.clone / ".venv")
    done = newcomer.make("setup")
    lock.write_text(text)
    assert done.returncode != 0
    assert "hatchling" in done.stderr and "Hash mismatch" in done.stderr, done.stderr
