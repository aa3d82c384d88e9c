"""The keys `schedule` (a DAG that repeats the study) and `compare` (the baseline of each run, and the
tolerated change)."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

from density_study.workloads.base.checked import like
from density_study.workloads.base.quantity import magnitude, written_in
from density_study.workloads.base.values import Frozen

RUN_ID = re.compile(r"\d{8}T\d{6}Z")
_ROLLING = re.compile(r"rolling (\d{1,4})")
MAX_TOLERANCE = 0.9
_FIELD = re.compile(r"(?!.*[0-9]{3})[0-9A-Za-z*,/#?-]{1,100}")
"""For a cron expression: no number has three digits, which a range would be expanded to."""
_LONGEST_CRON = 300


def percent(value: object) -> float:
    """ "5%" to 0.05. ValueError for anything else, and above 90 %."""
    share = magnitude(value, "percent", "5%") / 100
    if not 0 < share <= MAX_TOLERANCE:
        raise ValueError(f"{value!r} must be above 0 and at most {MAX_TOLERANCE:.0%}")
    return share


def _cron(text: str) -> str:
    from croniter import croniter  # starts a process when it is imported

    fields = text.split()
    plain = len(text) <= _LONGEST_CRON and len(fields) == 5 and all(map(_FIELD.fullmatch, fields))
    if not plain or not croniter.is_valid(text):
        raise ValueError(
            f"{text!r} is not a cron expression with five fields, for example '0 2 * * 6'"
        )
    return text


Share = Annotated[float, BeforeValidator(percent), written_in("%")]
"""A share written as `5%`, kept as 0.05."""


class Schedule(Frozen):
    """Schedule of the study's own DAG: a cron expression (UTC), or an Airflow asset that triggers it."""

    model_config = ConfigDict(json_schema_extra={"type": ["string", "object"]})  # text is a cron

    cron: Annotated[str, AfterValidator(_cron)] | None = Field(
        None, description="Cron expression with five fields, in UTC, for example `0 2 * * 6`."
    )
    asset: (
        Annotated[
            str, like(r"[a-z][a-z0-9+.-]*://\S+", "the URI of an asset, for example s3://bucket/x")
        ]
        | None
    ) = Field(None, description="URI of an Airflow asset. Each update of it starts a run.")

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return {"cron": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one(self) -> Schedule:
        if (self.cron is None) == (self.asset is None):
            raise ValueError("write a cron expression, or {asset: <uri>}")
        return self


class Baseline(Frozen):
    """Earlier runs to compare with: one run by its id, or the newest `rolling` runs."""

    run: str | None = None
    rolling: int | None = None

    def __str__(self) -> str:
        return self.run or f"rolling {self.rolling}"


def parse_baseline(text: object) -> Baseline:
    """ "rolling 5" or "20261120T201530Z". ValueError for anything else."""
    if isinstance(text, Baseline):
        return text
    match = _ROLLING.fullmatch(str(text))
    if match and int(match[1]) > 0:
        return Baseline(rolling=int(match[1]))
    if RUN_ID.fullmatch(str(text)):
        return Baseline(run=str(text))
    raise ValueError(f"{text!r} is not a baseline; write `rolling 5`, or a run's id")


class CompareSpec(Frozen):
    """Comparison of each run with a baseline. A change for the worse beyond `tolerance` is a regression."""

    baseline: Annotated[
        Baseline,
        BeforeValidator(parse_baseline),
        WithJsonSchema({"type": "string", "pattern": r"^(rolling \d{1,4}|\d{8}T\d{6}Z)$"}),
    ] = Field(description="Earlier runs: `rolling 5` for the last five, or the id of one run.")
    tolerance: Share = Field(0.05, description="Largest change that is not a regression.")
    spread: Share | None = Field(
        None,
        description="Expected variation between builds of one topology. Default: as in earlier runs, "
        "else 2.5 %.",
    )
