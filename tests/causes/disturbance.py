"""`Disturbance`: a row of disturbances.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

HERE = Path(__file__).parent
AT_S = 16.0
"""When one that does not last begins, after the trial's start: ten seconds after the ramp-up. As many are
left after it, so that most of the trial's seconds are usual ones."""
PART = 0.6
"""Of a quiet trial's length: when one begins in a job, which moves nothing in its first third."""
LASTING = "-lasting"
Workload = Literal["hbase", "testdfsio"]


class Disturbance(BaseModel):
    """The fields are explained in disturbances.toml. `arguments`: its key `with`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    about: str
    kind: str
    arguments: Mapping[str, Any] = Field(alias="with")
    expect: frozenset[str] = Field(min_length=1)
    friends: frozenset[str]
    reason: str = ""
    for_s: float = Field(5.0, gt=0, le=8)
    workload: Workload = "hbase"

    @property
    def lasts(self) -> bool:
        return self.name.endswith(LASTING)

    def at_s(self, quiet_s: float) -> float:
        """When one that does not last begins, after the trial's start. quiet_s: length of a quiet trial."""
        return AT_S if self.workload == "hbase" else PART * quiet_s


def disturbances() -> dict[str, Disturbance]:
    """All of them by name, in the file's order. Raises pydantic's ValidationError."""
    tables = tomllib.loads((HERE / "disturbances.toml").read_text(encoding="utf-8"))
    return {name: Disturbance(name=name, **table) for name, table in tables.items()}
