"""Real daemons on loopback. Every test here starts some, and leaves none behind."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

HERE = Path(__file__).parent
IN_MAKE_TEST = frozenset({"test_containers", "test_over_ssh", "test_stalling_store", "test_study"})
"""Part of `make test`, except for tests marked slow. The others run in `make live`: together
they take too long for every change, and some need an idle machine."""


def pytest_configure() -> None:
    """SIGTERM ends pytest as Ctrl-C does: fixtures stop the daemons that this process started."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.live)
            if item.path.stem not in IN_MAKE_TEST:
                item.add_marker(pytest.mark.slow)
