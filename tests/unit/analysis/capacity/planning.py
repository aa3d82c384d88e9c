"""Inputs of a plan for the tests: the shipped example, fitted once, and parts of it to change."""

from __future__ import annotations

from functools import cache
from typing import Any

from density_study.analysis.capacity.curves.fit import fit
from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.inputs.catalogue import EXAMPLE, Catalogue, read_catalogue
from density_study.analysis.capacity.inputs.point import Point
from density_study.analysis.capacity.inputs.points import read_points
from density_study.analysis.capacity.inputs.profile import Profile, read_profile
from density_study.analysis.capacity.inputs.question import parse_promises, question
from density_study.analysis.capacity.plan.plan import Excuse, Plan
from density_study.analysis.capacity.sizing.size import size

DRAWS = 200


@cache
def points() -> tuple[Point, ...]:
    return read_points(EXAMPLE.parent / "points.csv")


@cache
def model() -> Model:
    return fit(points(), ["points.csv"])


@cache
def catalogue() -> Catalogue:
    return read_catalogue(EXAMPLE)


def answer(
    genomes_per_day: float = 20,
    *promises: str,
    profile: Profile | None = None,
    fitted: Model | None = None,
    hosts: Catalogue | None = None,
    **more: Any,
) -> Plan | Excuse:
    """The answer to a question, by default about the shipped example."""
    return size(
        question(genomes_per_day, parse_promises(promises), draws=DRAWS, **more),
        fitted or model(),
        profile or read_profile("wgs30x"),
        hosts or catalogue(),
    )


@cache
def _about_the_example(*arguments: Any) -> Plan | Excuse:
    return answer(*arguments)


def plan(*arguments: Any, **more: Any) -> Plan:
    """A plan; those that use only the example's inputs are cached."""
    result = answer(*arguments, **more) if more else _about_the_example(*arguments)
    assert isinstance(result, Plan), result
    return result


def excuse(*arguments: Any, **more: Any) -> Excuse:
    result = answer(*arguments, **more)
    assert isinstance(result, Excuse), result.model_dump_json(indent=1)
    return result
