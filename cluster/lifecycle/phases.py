"""`Phases`: the stages of a bring-up as they end, told to the journal and to whoever shows progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cluster.model.cluster import Phase, Site
from cluster.state.events import PhaseEnded
from cluster.state.journal import Journal

OnPhase = Callable[[Phase], None]


class Phases:
    def __init__(self, site: Site, journal: Journal, on_phase: OnPhase | None) -> None:
        self.ended: list[Phase] = []
        self._site = site
        self._journal = journal
        self._on_phase = on_phase

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """A phase that lasts as long as the block; none is recorded if the block fails."""
        began = time.monotonic()
        yield
        self.end(name, time.monotonic() - began)

    def end(self, name: str, seconds: float) -> None:
        phase = Phase(name, round(seconds, 3))
        self.ended.append(phase)
        build, tag = self._site.root.name, self._site.tag
        self._journal.record(PhaseEnded(build=build, tag=tag, name=name, seconds=phase.seconds))
        if self._on_phase is not None:
            self._on_phase(phase)
