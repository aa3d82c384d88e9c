"""A random order of settings that still makes sense. Pure."""

from __future__ import annotations

from functools import lru_cache
from random import Random

from workloads.spec.settings import Setting, YcsbSetting


def random_order(settings: tuple[Setting, ...], rng: Random) -> tuple[Setting, ...]:
    """A random order in which what writes data comes before what reads it, and what measures a
    saturation before what asks for a percentage of it.

    At each place one of the settings whose data would exist is drawn. Reads whose data no setting
    writes are free: their trial prepares the data unmeasured.
    """
    waits = _waits(settings)
    left, ordered = list(range(len(settings))), []
    while left:
        missing = frozenset(left)
        ready = [index for index in left if waits[index].isdisjoint(missing)]
        chosen = rng.choice(ready)
        left.remove(chosen)
        ordered.append(settings[chosen])
    return tuple(ordered)


@lru_cache(maxsize=8)  # every build of a plan asks for the same
def _waits(settings: tuple[Setting, ...]) -> tuple[frozenset[int], ...]:
    """Of each setting: which ones come before it."""
    return tuple(
        frozenset(
            index
            for index, other in enumerate(settings)
            if other.writes_for(setting) or _measures_for(other, setting)
        )
        for setting in settings
    )


def _measures_for(other: Setting, setting: Setting) -> bool:
    return isinstance(other, YcsbSetting) and other.measures_for(setting)
