"""`factors.store`, and the key `store` of a study: what keeps the rows of YCSB. Faults are ValueErrors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

from density_study.cluster.model.store import (
    DEFAULT,
    Durability,
    Store,
    store_named,
    stores,
    words_of,
)
from density_study.cluster.model.variant import Variant
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.factors.factor import Factor, Level

if TYPE_CHECKING:
    StoreName = str
else:
    StoreName = Literal[tuple(stores())]
STORE_NAMES = ", ".join(
    f"`{name}`{'' if store.built else ' (only as an endpoint)'}" for name, store in stores().items()
)


class StoreSpec(Frozen):
    """A store, and when it acknowledges a write. A name is short for `{name: ...}`."""

    name: StoreName = Field(DEFAULT, description=f"{STORE_NAMES}.")
    durability: Durability = Field(
        "page_cache",
        description="What an acknowledged write survives. `memory`: nothing. `page_cache`: the death of the "
        "store's processes. `synced`: also a power failure. Unequal levels are not compared.",
    )

    @property
    def store(self) -> Store:
        return store_named(self.name, self.durability)


def _by_name(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


StoreChoice = Annotated[
    StoreSpec,
    BeforeValidator(_by_name),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": list(stores())},
                {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "name": {"enum": list(stores())},
                        "durability": {"enum": list(get_args(Durability))},
                    },
                },
            ]
        }
    ),
]


class Stores(Factor[StoreSpec]):
    """Stores under the same mixes."""

    name = "store"
    key = (
        tuple[StoreChoice, ...] | None,
        Field(
            None,
            min_length=1,
            description="Stores to compare under the same mixes, by name or with a durability. The first one "
            "is the baseline.",
        ),
    )

    def pairs(self, given: tuple[StoreSpec, ...]) -> Iterator[tuple[str, StoreSpec]]:
        for spec in given:
            yield spec.store.level, spec

    def apply(self, variant: Variant, level: StoreSpec) -> Variant:
        return replace(variant, store=level.store)

    def words(self, level: Level, noun: str) -> str:
        return words_of(str(level))


STORE = Stores()
