"""A random order of settings that respects their dependencies. Pure."""

from __future__ import annotations

from functools import lru_cache
from random import Random

from workloads.base.setting import Setting


def random_order(settings: tuple[Setting, ...], rng: Random) -> tuple[Setting, ...]:
    """A random order in which writers precede the readers of their data, and saturation trials precede
    the trials that target a percentage of their rate.

    Each position is drawn from the settings that have all they depend on. A read whose data no setting
    writes depends on nothing: its trial prepares the data, unmeasured.
    """
    predecessors = _predecessors(settings)
    remaining, ordered = list(range(len(settings))), []
    while remaining:
        missing = frozenset(remaining)
        ready = [index for index in remaining if predecessors[index].isdisjoint(missing)]
        chosen = rng.choice(ready)
        remaining.remove(chosen)
        ordered.append(settings[chosen])
    return tuple(ordered)


@lru_cache(maxsize=8)  # every build of a plan has the same settings
def _predecessors(settings: tuple[Setting, ...]) -> tuple[frozenset[int], ...]:
    """For each setting, the indices of those it depends on."""
    return tuple(
        frozenset(
            index
            for index, other in enumerate(settings)
            if other.writes_for(setting) or other.measures_for(setting)
        )
        for setting in settings
    )
