"""What follows from the facts of hosts: which are not as expected, and which differ. What is unknown is
neither. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from density_study.cluster.machine.equality.table import (
    BY_NAME,
    UNKNOWN,
    Fact,
    equal_value,
    is_expected,
)

Facts = Mapping[str, Mapping[str, Any]]
"""`machine` and `network`: values by host and name; `disks`: by host, folder and name."""
_Values = Mapping[str, frozenset[str]]
"""For a fact, by host; a host with several disks may have several."""
_MOST_NAMED, _LONGEST = 5, 60


@dataclass(frozen=True)
class Remark:
    """A fact that is not as expected on some hosts. `places`: the folders of its disks there."""

    fact: Fact
    value: str
    hosts: tuple[str, ...]
    places: tuple[str, ...] = ()

    @property
    def remedy(self) -> str:
        """The command; of several folders, one for each."""
        return "; ".join(
            dict.fromkeys(
                self.fact.remedy.replace("{folder}", place) for place in self.places or ("",)
            )
        )


def remarks(facts: Facts) -> tuple[Remark, ...]:
    """A remark for each fact and unexpected value, with the hosts that have it, in the order of the table."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for name, host, value, place in _values(facts, with_disks=True):
        if name in BY_NAME and not is_expected(BY_NAME[name], value):
            found.setdefault((name, value), []).append((host, place))
    return tuple(
        Remark(
            BY_NAME[name],
            value,
            tuple(dict.fromkeys(host for host, _ in seen)),
            tuple(dict.fromkeys(place for _, place in seen if place)),
        )
        for (name, value), seen in found.items()
    )


def unknown_facts(facts: Facts) -> tuple[str, ...]:
    """The facts for which a value is expected and no host has reported one."""
    every = [
        one
        for one in _values(facts, with_disks=True)
        if one[0] in BY_NAME and BY_NAME[one[0]].expected
    ]
    known = {name for name, _, value, _ in every if value != UNKNOWN}
    return tuple(dict.fromkeys(name for name, *_ in every if name not in known))


def unequal_facts(first: Facts, later: Facts, same_disks: bool) -> tuple[str, ...]:
    """'governor: performance (h1, h2), powersave (h3)', one for each fact that a host of only one variant has
    otherwise than the hosts of the other. `same_disks`: the variants are to have equal disks. Hosts of both
    are compared with themselves (method 23)."""
    a, b = (_by_name(facts, same_disks) for facts in (first, later))
    found = (_differing(name, a[name], b[name]) for name in a if name in b)
    return _shortened(filter(None, found))


def differing_facts(facts: Facts) -> tuple[str, ...]:
    """In words, the facts in which the hosts of one build differ."""
    by_name = _by_name(facts, with_disks=True)
    return _shortened(
        _words(name, hosts) for name, hosts in by_name.items() if len(set(hosts.values())) > 1
    )


def in_words(hosts: Sequence[str]) -> str:
    """'h1, h2', or 'h1, h2 and 8 more'."""
    more = len(hosts) - 3
    return ", ".join(hosts) if more < 1 else f"{', '.join(hosts[:3])} and {more} more"


def _differing(name: str, first: _Values, later: _Values) -> str:
    for own, others in ((first, later), (later, first)):
        known = frozenset[str]().union(*others.values())
        if any(own[host] - known for host in own.keys() - others.keys()):
            return _words(name, {**first, **later})
    return ""


def _by_name(facts: Facts, with_disks: bool) -> dict[str, _Values]:
    found: dict[str, dict[str, frozenset[str]]] = {}
    for name, host, value, _ in _values(facts, with_disks):
        if value != UNKNOWN:
            there = found.setdefault(name, {})
            there[host] = there.get(host, frozenset()) | {equal_value(name, value)}
    return dict(found)


def _values(facts: Facts, with_disks: bool) -> Iterator[tuple[str, str, str, str]]:
    """(name, host, value, folder of a disk or nothing)."""
    for scope in ("machine", "network"):
        for host, values in facts.get(scope, {}).items():
            yield from ((name, host, value, "") for name, value in values.items())
    for host, folders in facts.get("disks", {}).items() if with_disks else ():
        for folder, values in folders.items():
            yield from ((name, host, value, folder) for name, value in values.items())


def _words(name: str, hosts: _Values) -> str:
    by_value: dict[str, list[str]] = {}
    for host, values in sorted(hosts.items()):
        by_value.setdefault(" and ".join(sorted(values))[:_LONGEST], []).append(host)
    return f"{name}: " + ", ".join(f"{value} ({in_words(own)})" for value, own in by_value.items())


def _shortened(found: Iterable[str]) -> tuple[str, ...]:
    every = tuple(found)
    more = len(every) - _MOST_NAMED
    return (*every[:_MOST_NAMED], *([f"{more} more facts"] if more > 0 else []))
