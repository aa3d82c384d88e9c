"""Shared fixtures of unit tests: a port, a runtime folder and a stack of the test's own."""

from __future__ import annotations

import socket
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import SystemRandom

import pytest
import typer.main
import typer.testing

from tests.support.toy_stack import ToyStack, install

# `study` makes its tree of commands once per process; so do hundreds of calls in one.
typer.main.get_command = typer.testing._get_command = cache(typer.main.get_command)


@pytest.fixture
def free_port() -> int:
    """A loopback port without a listener, below those that the system gives to parallel tests."""
    first_given = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = SystemRandom().randrange(10_000, first_given)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ToyStack:
    """The stack `toy`, not assembled yet, in a cache of this test only."""
    return install(tmp_path, monkeypatch)
