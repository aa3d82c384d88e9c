"""A hostile host behind the program that this process runs as `ssh`."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.host import Target
from density_study.cluster.providers.ssh import channel, wire
from density_study.cluster.providers.ssh.channel import close_channels
from tests.security.hosts import hostile

TARGET = Target("h1", "192.0.2.11", 22, "study", "/runs/s/known_hosts")


@pytest.fixture
def ssh(runtime: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The program in the first folder of PATH; a test writes it."""
    program = tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(channel, "_CLOSED_WITHIN_S", 0.2)
    yield program
    close_channels()


@pytest.fixture
def told(ssh: Path) -> Callable[[dict[str, Any]], None]:
    """Tells the host its lies, for the connections that follow."""

    def tell(lies: dict[str, Any]) -> None:
        close_channels()
        file = ssh.with_name("lies.json")
        file.write_text(json.dumps(lies))
        argv = (sys.executable, "-I", "-S", hostile.__file__, str(wire.__file__), str(file))
        ssh.write_text(f"#!/bin/sh\nexec {shlex.join(argv)}\n")
        ssh.chmod(0o755)

    return tell


@pytest.fixture
def honest(ssh: Path) -> None:
    """The real agent, on this machine."""
    ssh.write_text('#!/bin/sh\nfor last; do :; done\nexec sh -c "exec $last"\n')
    ssh.chmod(0o755)
