"""`Answer`: one measured value beside its goal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """`what` was measured, its `goal` and `value` in words, and whether the value meets the goal."""

    what: str
    goal: str
    value: str
    holds: bool


@dataclass(frozen=True)
class KnownAnswer:
    """A measurement by name. `about`: the question it answers. `quick`: seconds, and part of the tests."""

    name: str
    about: str
    measure: Callable[[], list[Answer]]
    quick: bool = True
