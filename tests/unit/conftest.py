"""Shared fixtures of unit tests: a port, a runtime folder and a stack of the test's own."""

from __future__ import annotations

import socket
from functools import cache
from pathlib import Path

import pytest
import typer.main
import typer.testing

from tests.support.toy_stack import ToyStack, install

# `study` makes its tree of commands once per process; so do hundreds of calls in one.
typer.main.get_command = typer.testing._get_command = cache(typer.main.get_command)


@pytest.fixture
def free_port() -> int:
    """A loopback port without a listener at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ToyStack:
    """The stack `toy`, not assembled yet, in a cache of this test only."""
    return install(tmp_path, monkeypatch)
