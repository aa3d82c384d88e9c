"""Points that are slips of units, or are in the file twice. A message names the line, and the likely unit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from statistics import median

from density_study.analysis.capacity.inputs.csv_rows import Row
from density_study.analysis.capacity.inputs.plausible import Range
from density_study.analysis.capacity.inputs.point import MOST_FAULTS, Point, grouped, refuse, sizes
from density_study.analysis.capacity.inputs.spelling import respelled
from density_study.cluster.model.errors import InputError

_OF = {
    "MiB/s": Range(0, 100_000, "MiB/s of one host", "in KiB/s or bytes/s"),
    "ops/s": Range(0, 1e8, "operations per second of one host", "per hour"),
    "time": Range(0, 1e8, "s", "in ms"),
    "latency": Range(0, 3600, "s", "in ms or us"),
    "utilization": Range(0, 100, "percent of the hosts' cores", "of one core, summed over all"),
}
"""The unit of a rate, or a quantity -> what is plausible."""
_LOAD = Range(0, 1e10, "a second", "per hour")
APART = 50.0
"""times the ratio of hosts: two values of one curve this far apart have different units."""


def check_slips(rows: Sequence[tuple[str, Row]], points: Sequence[Point]) -> None:
    """InputError, with the line of each, for values beyond any host's, ones that are far from the others of
    their curve, utilizations that are shares, and lines that are there twice."""
    by_place: dict[str, InputError] = {}
    for fault in chain(_repeated(rows), _slips(points)):
        by_place.setdefault(fault.where, fault)  # a line's later ones may follow from its first
        if len(by_place) > MOST_FAULTS:
            break
    refuse(by_place.values())


def _slips(points: Sequence[Point]) -> Iterator[InputError]:
    sound = []  # the others are not compared with what is no value
    for point in points:
        found = list(_beyond(point))
        yield from found
        sound += [] if found else [point]
    for curve in grouped(sizes(sound), lambda point: point.variant).values():
        yield from _of_curve(curve)
    yield from _names(points)
    yield from _percentiles([point for point in sound if point.quantity == "latency"])
    used = [point for point in sound if point.quantity == "utilization"]
    for group in grouped(used, lambda point: point.group).values():
        if len(group) > 1 and max(point.value for point in group) <= 1:
            name = group[0].group
            yield _slip(group[0], f"no utilization of {name} is above 1 %: are they shares?")


def _beyond(point: Point) -> Iterator[InputError]:
    found = _OF.get(point.unit if point.quantity == "rate" else point.quantity)
    hosts = point.hosts if point.quantity == "rate" else 1
    if found and (slip := found.slip(point.value / hosts)):
        yield _slip(point, f"value {slip}")
    if point.load is not None and (slip := _LOAD.slip(point.load)):
        yield _slip(point, f"load {slip}")


def _of_curve(curve: Sequence[Point]) -> Iterator[InputError]:
    middle = median(point.value for point in curve)
    near = min(curve, key=lambda point: abs(point.value - middle))
    for point in curve:
        ratio = point.value / near.value
        hosts = point.hosts / near.hosts
        if max(ratio, 1 / ratio) > APART * max(hosts, 1 / hosts):
            yield _slip(
                point,
                f"value {point.value:g} {point.unit} on {point.hosts} hosts is not plausible beside "
                f"{near.value:g} on {near.hosts}: is it in another unit?",
                "correct the value or the unit; leave out a count at which the hosts ran out of memory.",
            )


def check_names(points: Sequence[Point]) -> None:
    """InputError for the names of points of several files that differ only in upper and lower case."""
    refuse(_names(points))


def _names(points: Sequence[Point]) -> Iterator[InputError]:
    """Names that differ only in upper and lower case: they would be curves of their own."""
    for column in ("group", "disk_type", "operation"):
        names = ((point.source, getattr(point, column)) for point in points)
        for place, name, there, other in respelled(names):
            what = f"{column} is {name!r}, and {other!r} in {there}."
            yield InputError(what, place, "write one name in one way.")


def _percentiles(latencies: Sequence[Point]) -> Iterator[InputError]:
    """A higher percentile below a lower one of the same load, whatever the repetition."""
    for same in grouped(latencies, lambda one: (one.place, one.load, one.operation)).values():
        by_percentile = sorted(grouped(same, lambda one: one.percentile or 0.0).items())
        for (lower, below), (higher, above) in pairwise(by_percentile):
            least = min(point.value for point in below)
            most = max(above, key=lambda point: point.value)
            if most.value < least:
                yield _slip(
                    most,
                    f"p{higher:g} is {most.value:g} s, and p{lower:g} of the same load {least:g} s: are they "
                    "swapped?",
                )


def _slip(point: Point, text: str, remedy: str = "correct the value or the unit.") -> InputError:
    return InputError(text, point.source, remedy)


def _repeated(rows: Sequence[tuple[str, Row]]) -> Iterator[InputError]:
    """Lines that are equal to an earlier one, number of the repetition included: as two measurements they
    would make every interval too narrow."""
    first: dict[tuple[tuple[str, str], ...], str] = {}
    for place, row in rows:
        earlier = first.setdefault(tuple(row.items()), place) if row.get("repetition") else place
        if earlier != place:
            yield InputError(
                f"the line is equal to {earlier.rpartition(', ')[2]}, with the same repetition.",
                place,
                "remove one of them, or number the repetitions.",
            )
