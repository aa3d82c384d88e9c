"""`Factor`: one thing in which the clusters of a study may differ. `registry.OURS` is the list of them.

A variant is one level of every factor. Findings compare two variants that differ in only one factor.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Generic, Literal, Protocol, TypeVar

from density_study.cluster.model.variant import Variant
from density_study.workloads.base.checked import like

L = TypeVar("L")
Level = int | str | None
"""A level of a factor in a summary; None where a study has no levels of it."""
Direction = Literal["rises", "falls"]
Measure = Literal["rate", "cpu", "latency", "recovery"]
Expected = Mapping[Measure, Direction]
"""What the later of two levels does to each measure: the rule of a finding, fixed before any data."""
LevelName = Annotated[
    str,
    like(
        r"[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?",
        "a name: up to 24 lower-case letters, digits and hyphens, with no hyphen at the ends",
    ),
]
FASTER: Expected = {"rate": "rises", "cpu": "rises", "latency": "falls", "recovery": "falls"}
BUSIER: Expected = {"rate": "rises", "cpu": "rises", "recovery": "falls"}
CHEAPER: Expected = {"rate": "rises", "cpu": "falls", "latency": "falls", "recovery": "falls"}


class StudyOfFactors(Protocol):
    """What a factor may look at in the study that has it: `StudyKeys`, which imports the factors."""

    @property
    def provider(self) -> str: ...
    @property
    def existing(self) -> Any: ...
    @property
    def hosts(self) -> Sequence[Any]: ...
    @property
    def factors(self) -> Any: ...
    @property
    def stack(self) -> Any: ...
    def test_cases(self) -> Sequence[Any]: ...


class Factor(ABC, Generic[L]):
    """A factor: its key in a study, what its levels do to a variant, and how findings speak of them.

    The methods are those of a factor whose levels are values of the variant's field of the same name. A
    factor whose levels have names in a topology's name (`is_named`) has at least `pairs` and `apply` of its
    own.
    """

    name: ClassVar[str]
    """Key below `factors` of a study."""
    key: ClassVar[tuple[Any, Any]]
    """Type and pydantic field of that key."""
    is_named: ClassVar[bool] = True
    """Whether its levels are in `Variant.levels`, and so in the names of topologies."""
    effect: ClassVar[str] = ""
    """Begins the names of its families of findings; empty: its own name."""
    expected: ClassVar[Expected] = CHEAPER
    about: ClassVar[Literal["density", "disk_types", "unknown"]] = "disk_types"
    """Whose obstacles apply to its findings: those of nodes, of disks, or only of unknown trials."""
    has_baseline: ClassVar[bool] = True
    """Whether every later level is compared with the first one; otherwise only the highest with the lowest,
    as each further comparison costs power."""
    carries: ClassVar[tuple[str, ...]] = ()
    """Factors that are facts about a level of this one, and differ along with it."""
    proofs: ClassVar[tuple[str, ...]] = ()
    """Checks of `rules.toml` that prove in each trial that its level was in effect."""
    in_duets: ClassVar[bool] = False
    """Whether two levels can stand at once on the same hosts, each with all of them in its own turns."""
    otherwise: ClassVar[tuple[str, ...]] = ()
    """Levels that a hypothesis may name where the study lists none."""

    def pairs(self, given: Any) -> Iterator[tuple[str, L]]:
        """(name, level) of each level that a study gives, in its order."""
        for level in given:
            yield str(level), level

    def apply(self, variant: Variant, level: L) -> Variant:
        """The variant at this level."""
        changed: dict[str, Any] = {self.name: level}
        return replace(variant, **changed)

    def check(self, study: StudyOfFactors) -> None:
        """FaultyKeyError for what the study may not say together with this factor. Also called for a study
        without it."""

    def obstacle(self, level: str) -> str | None:
        """Why variants at this level support no claim."""
        return None

    def words(self, level: Level, noun: str) -> str:
        """The level for people. noun: what a node is called."""
        return str(level)

    def ordered(self, levels: Sequence[Level]) -> tuple[Level, ...]:
        """Levels in the order in which they are compared: numbers ascending, names in the study's order."""
        if all(isinstance(level, int) for level in levels):
            return tuple(sorted(levels, key=lambda level: int(level or 0)))
        return tuple(levels)

    @property
    def family(self) -> str:
        return self.effect or self.name
