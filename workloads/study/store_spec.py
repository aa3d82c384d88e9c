"""The key `store` of a study and of its factors; faults are ValueErrors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

from density_study.cluster.model.store import DEFAULT, Durability, Store, store_named, stores
from density_study.workloads.base.values import Frozen

if TYPE_CHECKING:
    StoreName = str
else:
    StoreName = Literal[tuple(stores())]
STORE_NAMES = ", ".join(
    f"`{name}`{'' if store.built else ' (as an endpoint alone)'}"
    for name, store in stores().items()
)


class StoreSpec(Frozen):
    """A store, and when it acknowledges a write. A name alone is short for `{name: ...}`."""

    name: StoreName = Field(DEFAULT, description=f"{STORE_NAMES}.")
    durability: Durability = Field(
        "page_cache",
        description="What an acknowledged write survives. `memory`: nothing. `page_cache`: the death of the "
        "store's processes. `synced`: a power failure, too. Unequal levels are not compared.",
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
