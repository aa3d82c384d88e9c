"""What other packages add to the project by entry points. Each names one object, of the type of those that
the project has itself:

    [project.entry-points."density_study.workloads"]
    sort = "sort_workload.kind:SORT"
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Literal, TypeVar, get_args

from density_study.cluster.model.errors import InputError

Noun = Literal["workload", "factor", "metric"]
T = TypeVar("T")


def group_of(noun: Noun) -> str:
    """density_study.workloads."""
    return f"density_study.{noun}s"


def values_of(noun: Noun, kind: type[T]) -> Iterator[tuple[str, T]]:
    """(entry point as text, its object) of every package. InputError if one cannot be loaded, or is not of
    this type."""
    for point in entry_points(group=group_of(noun)):
        name = f"{point.name} = {point.value}"
        try:
            value = point.load()
        except Exception as error:  # code of others may fail in any way
            raise unusable(noun, str(error) or type(error).__name__, name) from error
        if not isinstance(value, kind):
            raise unusable(noun, f"{point.value} is not a {kind.__name__}", name)
        yield name, value


def unusable(noun: Noun, why: str, name: str) -> InputError:
    return InputError(
        f"cannot register a {noun}: {why}.",
        f"entry point {name}, group {group_of(noun)}",
        "correct or uninstall the package that declares it.",
    )


def installed() -> tuple[EntryPoint, ...]:
    """Every entry point of other packages."""
    return tuple(point for noun in get_args(Noun) for point in entry_points(group=group_of(noun)))
