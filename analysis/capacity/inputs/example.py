"""The shipped example's points are made up. Models and plans that use them, or copies of them, say so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from density_study.analysis.capacity.inputs.point import Point
from density_study.analysis.capacity.inputs.points import read_points

EXAMPLE = "EXAMPLE"
POINTS = Path(__file__).parent / "examples" / "points.csv"


def labelled(source: str, points: Sequence[Point]) -> str:
    """The source, with a label if any of its points is one of the example's."""
    made_up = {_measured(point) for point in read_points(POINTS)}
    if made_up.isdisjoint(map(_measured, points)):
        return source
    return f"{EXAMPLE} (made-up points) {source}"


def _measured(point: Point) -> tuple[str, int, int, str, float]:
    """What was measured, without the file that it comes from."""
    return point.group, point.hosts, point.vms_per_host, point.disk_type, point.value
