"""Queues that take no time to simulate."""

from __future__ import annotations

import pytest

from density_study.analysis.capacity.sizing import turnaround as queue


@pytest.fixture
def short_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests in which the search is compared."""
    monkeypatch.setattr(queue, "GENOMES", 60)
    monkeypatch.setattr(queue, "SIMULATIONS", 16)
