"""What other packages add to the project by entry points. Each names one object, of the type of those that
the project has itself:

    [project.entry-points."density_study.workloads"]
    sort = "sort_workload.kind:SORT"
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib.metadata import EntryPoint, entry_points
from typing import Literal, TypeVar, get_args

from density_study.cluster.model.errors import InputError

Noun = Literal["workload", "store", "provider", "factor", "metric", "finding", "hook"]
T = TypeVar("T")


def group_of(noun: Noun) -> str:
    """The group of entry points: density_study.workloads."""
    return f"density_study.{noun}s"


def values_of(noun: Noun, kind: type[T]) -> Iterator[tuple[str, T]]:
    """(entry point as text, its object) of every package. InputError if one cannot be loaded, or is not of
    this type."""
    for name, value in _loaded(noun):
        if not isinstance(value, kind):
            raise unusable(noun, f"it is not a {kind.__name__}", name)
        yield name, value


def classes_of(noun: Noun, base: type[T]) -> Iterator[tuple[str, type[T]]]:
    """As `values_of`, for classes that derive from `base`."""
    for name, value in _loaded(noun):
        if not (isinstance(value, type) and issubclass(value, base)):
            raise unusable(noun, f"it is not a {base.__name__}", name)
        yield name, value


def names_of(noun: Noun) -> tuple[str, ...]:
    """Names of the entry points. What they name is not loaded."""
    return tuple(point.name for point in entry_points(group=group_of(noun)))


def class_named(noun: Noun, name: str, base: type[T]) -> type[T]:
    """The class of the entry point with this name, one of `names_of`."""
    return next(one for point, one in classes_of(noun, base) if point.startswith(f"{name} = "))


def _loaded(noun: Noun) -> Iterator[tuple[str, object]]:
    for point in entry_points(group=group_of(noun)):
        name = f"{point.name} = {point.value}"
        try:
            with redirect_stdout(sys.stderr):  # standard output may be JSON
                loaded = point.load()
        except (Exception, SystemExit) as error:  # code of others may fail in any way
            raise unusable(noun, str(error) or type(error).__name__, name) from error
        yield name, loaded


def unusable(noun: Noun, why: str, name: str) -> InputError:
    return InputError(
        f"cannot register a {noun}: {why}.",
        f"entry point {name}, group {group_of(noun)}",
        "correct or uninstall the package that declares it.",
    )


def installed() -> tuple[EntryPoint, ...]:
    """Every entry point of other packages."""
    return tuple(point for noun in get_args(Noun) for point in entry_points(group=group_of(noun)))
