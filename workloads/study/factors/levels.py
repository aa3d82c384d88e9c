"""`Factors`: the key `factors` of a study, with one key per registered factor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import create_model, model_validator

from density_study.cluster.model.variant import Variant
from density_study.workloads.base.checked import FaultyKeyError, no_duplicates
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.factors.factor import Factor
from density_study.workloads.study.factors.registry import factors

L = TypeVar("L")
_ANY_VARIANT = Variant(1, 1, "flash")


class _Factors(Frozen):
    """Factors to compare. Each repetition builds every combination once."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...  # the keys, which `create_model` adds

    @model_validator(mode="after")
    def _differ(self) -> _Factors:
        for factor in factors().values():
            given = getattr(self, factor.name)
            if given is not None:
                names = [name for name, _ in factor.pairs(given)] if factor.is_named else given
                no_duplicates(factor.name, list(names), factor.name)
            if factor.is_named:
                _check_differ(factor, self.of(factor))
        return self

    def of(self, factor: Factor[L]) -> Mapping[str, L]:
        """Name -> level of each level of the factor, in the study's order; empty where it is left out."""
        return dict(factor.pairs(getattr(self, factor.name) or ()))

    def levels(self, factor: str) -> tuple[str, ...]:
        """The names of the factor's levels."""
        return tuple(self.of(factors()[factor]))

    @property
    def variants_per_disk_type(self) -> int:
        return prod(max(1, len(self.levels(name))) for name in factors() if name != "disk_type")

    def variants(self, first: Variant) -> Iterator[Variant]:
        """`first` at every combination of levels that have names; itself where the study has none of them."""
        variants = [first]
        for factor in factors().values():
            if factor.is_named and (levels := self.of(factor)):
                variants = [
                    replace(
                        factor.apply(variant, level), levels={**variant.levels, factor.name: name}
                    )
                    for variant in variants
                    for name, level in levels.items()
                ]
        yield from variants


def _check_differ(factor: Factor[L], levels: Mapping[str, L]) -> None:
    made: dict[str, Variant] = {}
    for name, level in levels.items():
        variant = factor.apply(_ANY_VARIANT, level)
        for earlier, other in made.items():
            if variant == other:
                raise FaultyKeyError(
                    f"{name} is the same as {earlier}: there is nothing to compare", factor.name
                )
        made[name] = variant


if TYPE_CHECKING:
    Factors = _Factors
else:
    Factors = create_model(
        "Factors",
        __base__=_Factors,
        __doc__=_Factors.__doc__,
        **{factor.name: factor.key for factor in factors().values()},
    )
