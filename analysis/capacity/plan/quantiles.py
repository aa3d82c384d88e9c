"""`Quantiles`: an answer over the uncertainty draws. No library but pydantic: summaries hold plans."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Quantiles(BaseModel):
    """q05, q50 and q95 of an answer over the uncertainty draws."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    q05: float
    q50: float
    q95: float
