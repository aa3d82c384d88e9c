"""Set-up without a network, and from a mirror of PyPI, as described in docs/install.md."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(os.geteuid() != 0, reason="a network namespace needs root"),
]
CHECKOUT = Path(__file__).parents[2]
_INSTALL = (CHECKOUT / "docs" / "install.md").read_text()
_BLOCKS = re.findall(r"^```sh\n(.*?)^```", _INSTALL, re.MULTILINE | re.DOTALL)
(SAVE,) = [block for block in _BLOCKS if "pip download" in block]
(SET_UP,) = [block for block in _BLOCKS if "UV_OFFLINE=1" in block]

REGISTRY = re.findall(r'registry = "(.*?)"', (CHECKOUT / "uv.lock").read_text())[0]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", str(CHECKOUT), str(clone)], check=True)
    return clone


def run(folder: Path, *argv: str, **environment: str) -> str:
    ended = subprocess.run(
        argv,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return ended.stdout


def test_without_a_network(clone: Path) -> None:
    run(clone, "make", ".venv/.ready")
    run(clone, "sh", "-c", SAVE)
    for made in (".venv", ".uv"):  # as on another machine
        shutil.rmtree(clone / made)
    run(clone, "unshare", "--net", "sh", "-c", SET_UP)
    assert run(clone, ".venv/bin/study", "--version").startswith("study ")


def test_from_a_mirror(clone: Path) -> None:
    run(clone, "make", ".venv/.ready", UV_DEFAULT_INDEX=REGISTRY)
    assert run(clone, ".venv/bin/study", "--version").startswith("study ")
