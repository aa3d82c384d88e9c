"""A random order of settings that still makes sense. Pure."""

from __future__ import annotations

from random import Random

from workloads.settings import Setting, YcsbSetting


def random_order(settings: tuple[Setting, ...], rng: Random) -> tuple[Setting, ...]:
    """A random order in which what writes data comes before what reads it, and what measures a
    saturation before what asks for a percentage of it.

    At each place one of the settings whose data would exist is drawn. Reads whose data no setting
    writes are free: their trial prepares the data unmeasured.
    """
    left, ordered = list(settings), []
    while left:
        ready = [setting for setting in left if not _waits(setting, left)]
        chosen = rng.choice(ready)
        left.remove(chosen)
        ordered.append(chosen)
    return tuple(ordered)


def _waits(setting: Setting, left: list[Setting]) -> bool:
    return any(other.writes_for(setting) or _measures_for(other, setting) for other in left)


def _measures_for(other: Setting, setting: Setting) -> bool:
    return isinstance(other, YcsbSetting) and other.measures_for(setting)
