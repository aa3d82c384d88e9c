"""What several unit tests need: a port, a runtime folder of the test's own."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest


@pytest.fixture
def free_port() -> int:
    """A port on loopback on which nobody listens just now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks and leases of this test alone, never the user's."""
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(tmp_path / "runtime"))
