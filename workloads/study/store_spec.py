"""The key `store` of a study and of its factors; faults are ValueErrors."""

from __future__ import annotations

from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

from density_study.cluster.model.store import Durability, Store, StoreName
from density_study.workloads.base.values import Frozen


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
    return {"name": value} if isinstance(value, str) else value


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
