"""Queues of the capacity planner that take no time to simulate."""

from __future__ import annotations

import pytest


@pytest.fixture
def short_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    """60 genomes in 16 draws."""
    from density_study.analysis.capacity.sizing import turnaround

    monkeypatch.setattr(turnaround, "GENOMES", 60)
    monkeypatch.setattr(turnaround, "SIMULATIONS", 16)


@pytest.fixture(autouse=True)
def whole_queues_are_slow(request: pytest.FixtureRequest) -> None:
    """Tests of plans compare the search and the words; test_queues.py has the queue itself."""
    if not request.node.get_closest_marker("slow"):
        request.getfixturevalue("short_queues")
