"""The key `store` of a study and of its factors; faults are ValueErrors."""

from __future__ import annotations

from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

from density_study.cluster.model.store import Durability, Store, StoreName
from density_study.workloads.base.values import Frozen

_IMPOSSIBLE = {
    "riak": "its client is of 2017, and no package registry has a server",
}


class StoreSpec(Frozen):
    """A store, and when it acknowledges a write. `redis` is short for `{name: redis}`."""

    name: StoreName = Field(
        "hbase",
        description="`hbase`, `accumulo`, `cassandra`, `kudu`, `redis` or `redis-cluster` (or Valkey), "
        "`rocksdb`, or, as an endpoint, `aerospike`.",
    )
    durability: Durability = Field(
        "page_cache",
        description="What an acknowledged write survives. `memory`: nothing. `page_cache`: the death of the "
        "store's processes. `synced`: a power failure, too. Unequal levels are not compared.",
    )

    @property
    def store(self) -> Store:
        return Store(self.name, self.durability)


def _by_name(value: Any) -> Any:
    named = {"name": value} if isinstance(value, str) else value
    name = named.get("name") if isinstance(named, dict) else None
    if isinstance(name, str) and name.lower() in _IMPOSSIBLE:
        raise ValueError(f"{name} cannot be studied: {_IMPOSSIBLE[name.lower()]}")
    return named


StoreChoice = Annotated[
    StoreSpec,
    BeforeValidator(_by_name),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": list(get_args(StoreName))},
                {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "name": {"enum": list(get_args(StoreName))},
                        "durability": {"enum": list(get_args(Durability))},
                    },
                },
            ]
        }
    ),
]
