"""`UncertainValue`: a value with its range, where it came from, and draws of it."""

from __future__ import annotations

import logging
from math import ceil
from pathlib import Path
from typing import Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from scipy import stats

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.plan.plan import Quantiles
from density_study.cluster.model.plain import plain
from density_study.workloads.base.yaml_faults import fault_of
from density_study.workloads.base.yaml_text import Document, read_yaml
from density_study.workloads.study.renamed_keys import OF_CATALOGUES, old_names, rename_keys

_log = logging.getLogger(__name__)

Tag = Literal["measured", "published", "calculated", "catalogue", "assumed"]
QUANTILES = (0.05, 0.5, 0.95)  # a range is the middle 90 % of what is possible
FEW = 3
MARGIN = 1.25  # range of a number with fewer than 3 observations: plus or minus a quarter


class FiniteModel(BaseModel):
    """The base of every model that a user writes as YAML."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @classmethod
    def read(cls, path: Path) -> Self:
        """InputError, with line and key of every fault, for a file that does not fit the model."""
        document = read_yaml(path)
        if isinstance(document.value, dict):
            for warning in rename_keys(document.value, document, OF_CATALOGUES):
                _log.warning("%s", warning)
        try:
            found = cls.model_validate(document.value)
        except ValidationError as error:
            known = old_names(OF_CATALOGUES)
            raise fault_of(error, document, cls, "the page Capacity files", known) from error
        found.check_slips(document)
        return found

    def check_slips(self, document: Document) -> None:
        """InputError, with line and key of each, for numbers that are slips of units; those that validation
        does not refuse."""

    @field_validator("*", mode="before")
    @classmethod
    def _is_plain(cls, value: object) -> object:
        """YAML reads an unquoted yes, no, on or off as a boolean, which would count as 1 or 0."""
        if isinstance(value, bool):
            raise ValueError(
                f"{str(value).lower()} (also yes, no, on, off) is not a value here; write a number, or text "
                "in quotes"
            )
        if isinstance(value, str) and plain(value) != value:
            raise ValueError(f"{plain(value)[:80]!r} has control characters")
        return value


class UncertainValue(FiniteModel):
    """low <= value <= high, all positive, or all 0 for something that does not happen. low to high is the
    middle 90 % of what is possible."""

    value: float = Field(ge=0)
    low: float = Field(ge=0)
    high: float = Field(ge=0)
    tag: Tag
    source: str = Field(min_length=1)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.value <= self.high:
            raise ValueError(
                f"{self.value} does not lie between low {self.low} and high {self.high}"
            )
        if self.low == 0 < self.high:
            raise ValueError("low must be positive if the value is")
        return self

    def times(self, factor: float) -> UncertainValue:
        scaled = {name: getattr(self, name) * factor for name in ("low", "value", "high")}
        return self.model_copy(update=scaled)

    def draws(self, rng: np.random.Generator, count: int) -> Floats:
        """(count,) values. A value without a range is equal in every draw."""
        if self.low == self.high:
            return np.full(count, self.value)
        # Two half log-normals that meet at the value: one value in twenty lies under `low` and one above
        # `high`, and none is negative. Each half holds half of the draws, so that `value` is the median,
        # unlike in the two-piece normal distribution (K. Wallis, Statistical Science 29, 2014).
        # Stratified (Latin hypercube; M. McKay et al., Technometrics 21, 1979): one draw in each of `count`
        # equal shares, so that another seed moves the result less.
        deviate = stats.norm.ppf((rng.permutation(count) + rng.uniform(size=count)) / count)
        edge = float(stats.norm.ppf(QUANTILES[2]))
        below = np.log(self.value / self.low) / edge
        above = np.log(self.high / self.value) / edge
        result: Floats = self.value * np.exp(np.where(deviate < 0, below, above) * deviate)
        return result


def quantiles(values: Floats) -> Quantiles:
    """The 5 %, 50 % and 95 % quantiles of draws (draws,). Infinite draws, which nothing satisfies, count as
    very large."""
    low, middle, high = np.quantile(np.nan_to_num(values, posinf=1e12), QUANTILES)
    return Quantiles(q05=float(low), q50=float(middle), q95=float(high))


def not_exceeded(draws: Floats, share: float) -> Floats:
    """The smallest values (...) that at least `share` of the draws (n, ...) do not exceed."""
    # of 100 draws and a share of 0.9 the 90th, not the 91st; the tiny part is for a share like 0.9 * 70
    place = ceil(min(share, 1.0) * len(draws) - 1e-9) - 1
    result: Floats = np.sort(draws, axis=0)[max(0, place)]
    return result
