"""Names that differ only in case or in blanks around them: they would be two things, but one is meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

P = TypeVar("P")


def respelled(names: Iterable[tuple[P, str]]) -> Iterator[tuple[P, str, P, str]]:
    """(place, name) of each name that is an earlier one in another spelling, and that one's (place, name)."""
    first: dict[str, tuple[P, str]] = {}
    for place, name in names:
        there, other = first.setdefault(name.strip().casefold(), (place, name))
        if other != name:
            yield place, name, there, other
