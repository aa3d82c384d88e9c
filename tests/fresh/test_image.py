"""docs/Containerfile, built as an ordinary user by Debian's buildah, and commands in the image."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from os import geteuid
from pathlib import Path

import psutil
import pytest

from tests.dag.backend import wait_until

SCRIPT = Path(__file__).with_name("debian.sh")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(0),
    pytest.mark.skipif(
        geteuid() != 0 or not all(map(shutil.which, ("mmdebstrap", "buildah", "newuidmap"))),
        reason="needs root, and what `make packages-image` installs",
    ),
]
BUILD_S = 1150.0
"""Less than the 20 minutes of a group."""


def test_the_image_is_built_and_its_commands_work() -> None:
    line = "set -e; cd; cd density-study; {0} --version; {0} plan quickstart; {0} doctor quickstart; id -un"
    with started("sh", "-c", line.format(".venv/bin/study")) as script:
        folder = folder_of(script)
        try:
            output, _ = script.communicate(timeout=BUILD_S)
        except subprocess.TimeoutExpired as late:
            pytest.fail(
                f"not built within {BUILD_S:.0f} s: {(late.output or b'')[-3000:].decode()}"
            )
    assert script.returncode == 0, output[-6000:]
    printed = r"\nstudy \d[\d.a-z]*(\+g\w+)?\n.* 6 trial\(s\), .* checks, no faults\nstudy\n$"
    assert re.search(printed, output, re.S), output[-6000:]
    assert not folder.exists()


def test_a_killed_build_leaves_nothing() -> None:
    """Also by SIGKILL, after which the script itself does nothing more."""
    with started("true") as script:
        folder = folder_of(script)
        wait_until((folder / "base" / "usr").exists, 300, "Debian is being unpacked")
        family = psutil.Process(script.pid).children(recursive=True)
        script.kill()
        wait_until(lambda: not folder.exists(), 30, "the folder is removed")
        assert psutil.wait_procs(family, timeout=10)[1] == []


@contextmanager
def started(*command: str) -> Iterator[subprocess.Popen[str]]:
    """The script, which has ended after the test."""
    argv = [str(SCRIPT), "--image", *command]
    pipe, out = subprocess.PIPE, subprocess.STDOUT
    script = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=pipe, stderr=out, text=True)
    try:
        yield script
    finally:
        script.terminate()
        script.communicate()


def folder_of(script: subprocess.Popen[str]) -> Path:
    """Where it works: the process that it starts has the folder's name in its command line."""

    def named() -> str:
        children = psutil.Process(script.pid).children()
        lines = (of_child for child in children if "--inside" in (of_child := words_of(child)))
        return next((line[line.index("--inside") + 1] for line in lines), "")

    return Path(wait_until(named, 10, "the script has a folder"))


def words_of(process: psutil.Process) -> list[str]:
    """Its command line; none if it has ended, as those do that only make the folder."""
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []
