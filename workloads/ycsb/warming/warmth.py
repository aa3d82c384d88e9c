"""`Warmth`: whether servers are warm, from successive looks at their counters. Pure except for the clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # Spark's executors, which read WARMTH, have no pydantic
    from density_study.cluster.model.topology import Jit

REST_SHARE = 0.05  # a server's compilers are idle below this share of one core
# Number of successive looks (every 5 s) that must find all compilers idle: compilation comes in waves.
LOOKS_AT_REST = 3
# Requests to a server. Compilers also idle where little runs: HotSpot compiles a method by C1 after 2,000
# calls, and by C2 after 15,000 more (Tier3CompileThreshold, Tier4CompileThreshold). Each request calls what
# serves requests at least once.
LEAST_SERVED: Mapping[Jit, int] = {"full": 20_000, "c1": 2_500}
STILL = 0.01  # the block caches' hit ratio stands still if it moves less
# So do their blocks if they get fewer more: HBase's LRU cache drops 4 % of its size at a time.
STILL_FILLS = 0.05
_PARTS = 3
WARMTH = ("compiling_share", "served_share", "hit_ratio_moved", "cache_grew")
"""What a trial's record says about the warm-up, by the names of Warmth."""


@dataclass(frozen=True)
class Blocks:
    """Blocks found, looked for, and held now."""

    found: int
    looked_for: int
    held: int


@dataclass(frozen=True)
class Look:
    """Counters since the servers' start, by the server's name. None: the store does not count it.

    compiled_s: compilers' work. served: requests. blocks: those of all servers' block caches.
    """

    compiled_s: Mapping[str, float]
    served: Mapping[str, float] | None = None
    blocks: Blocks | None = None


@dataclass
class Warmth:
    """Called periodically; returns whether all servers are warm: their compilers rest, each has served enough
    to have its code compiled, and the block caches stand still."""

    read: Callable[[], Look | None]
    clock: Callable[[], float] = time.monotonic
    jit: Jit = "full"
    looks_at_rest: int = 0
    # seconds of one core: the busiest server's compilers at the last look
    compiling_share: float | None = None
    _looks: list[Look] = field(default_factory=list, repr=False)
    _last: tuple[float, Look] | None = field(default=None, repr=False)

    def __call__(self) -> bool:
        look, now_s = self.read(), self.clock()
        if look is None:  # no answer is no evidence of rest
            self._last, self.looks_at_rest = None, 0
            return False
        if self._last is not None:
            then_s, last = self._last
            # the busiest server, not the mean: one that still compiles slows down a whole trial
            worked_s = [look.compiled_s[name] - last.compiled_s[name] for name in look.compiled_s]
            self.compiling_share = max(worked_s) / (now_s - then_s)
            rests = self.compiling_share < REST_SHARE
            self.looks_at_rest = self.looks_at_rest + 1 if rests else 0
        self._last = now_s, look
        self._looks.append(look)
        return self.is_warm

    @property
    def is_warm(self) -> bool:
        served = self.served_share
        return (
            self.looks_at_rest >= LOOKS_AT_REST
            and (served is None or served >= 1.0)
            and (self.hit_ratio_moved or 0.0) <= STILL
            and (self.cache_grew or 0.0) <= STILL_FILLS
        )

    @property
    def served_share(self) -> float | None:
        """Requests since the first look to the server that had the fewest, over those that its compilers
        need; None if not counted."""
        if not self._looks:
            return None
        first, last = self._looks[0].served, self._looks[-1].served
        if first is None or last is None:
            return None
        fewest = min(count - first.get(name, 0) for name, count in last.items())
        return fewest / LEAST_SERVED[self.jit]

    @property
    def hit_ratio_moved(self) -> float | None:
        """How far the hit ratio of the last third of all lookups is from that of the third before it; None
        if not counted, or if nothing was looked for."""
        if (thirds := self._thirds) is None:
            return None
        before, after = (_ratio(*pair) for pair in pairwise(thirds))
        return 1.0 if before is None or after is None else abs(after - before)

    @property
    def cache_grew(self) -> float | None:
        """Share of the caches' blocks that came in the last third of all lookups. While a large cache begins
        to fill, its hit ratio hardly moves."""
        if (thirds := self._thirds) is None:
            return None
        return max(0.0, 1.0 - thirds[1].held / thirds[2].held) if thirds[2].held else 0.0

    @property
    def _thirds(self) -> tuple[Blocks, Blocks, Blocks] | None:
        """At a third of all lookups, at two thirds, and at the end: not at the last looks, because a large
        cache on slow drives fills for an hour, and hardly moves within seconds."""
        blocks = [look.blocks for look in self._looks if look.blocks is not None]
        if len(blocks) <= _PARTS or blocks[-1].looked_for == blocks[0].looked_for:
            return None
        begun, end = blocks[0].looked_for, blocks[-1].looked_for
        cuts = [begun + (end - begun) * part / _PARTS for part in range(1, _PARTS)]
        one, two = (min(blocks, key=lambda look: abs(look.looked_for - cut)) for cut in cuts)
        return one, two, blocks[-1]

    @property
    def facts(self) -> dict[str, float]:
        """What a trial's record says about the warm-up; what is not known is left out."""
        found = {name: getattr(self, name) for name in WARMTH}
        return {name: value for name, value in found.items() if value is not None}


def _ratio(begun: Blocks, end: Blocks) -> float | None:
    looked_for = end.looked_for - begun.looked_for
    return (end.found - begun.found) / looked_for if looked_for else None
