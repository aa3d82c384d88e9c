"""`Quantiles` of a result over the uncertainty draws. Only pydantic is imported: summaries hold plans."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Quantiles(BaseModel):
    """q05, q50 and q95 of a result over the uncertainty draws."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    q05: float
    q50: float
    q95: float
