"""`Model`: the output of `study capacity fit`: the points, and the curves fitted to them.

Predictions are made from the points again (surface.py), always by the same code; the coefficients are
there to be read, drawn and compared.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from density_study.analysis.capacity.curves.under_load import LatencyCurve, UtilizationLaw
from density_study.analysis.capacity.inputs.point import Point
from density_study.cluster.model.errors import InputError
from density_study.cluster.old_names import present
from density_study.cluster.state.atomic import write_text
from density_study.cluster.state.plain_file import read_named, why_unread
from density_study.workloads.base.values import Frozen

FORMAT: Literal[1] = 1
MOST_BYTES = 2**27
"""A point takes about 300."""


class CellFit(Frozen):
    """One measured cell of a curve at `x` hosts (scaling) or VMs per host (density)."""

    x: int
    level_s: float = Field(description="median work time of the repetitions, seconds for one thing")
    repetitions: int
    residual: float = Field(description="formula / level - 1")
    left_out: float | None = Field(description="predicted without the cell / level - 1")


class ErrorOfPrediction(Frozen):
    """Half widths of the 90 % interval, as factors minus 1."""

    inside: float
    above: float


class ScalingFit(Frozen):
    """T(n) = a + b/n + c*n (Amdahl 1967; Ernest, Venkataraman et al. 2016): seconds of work time per unit."""

    group: str
    disk_type: str
    vms_per_host: int
    unit: str
    a_s: float
    b_s: float
    c_s: float
    cells: tuple[CellFit, ...]
    smallest_hosts: int
    largest_hosts: int
    error: ErrorOfPrediction
    repeat_noise: float = Field(description="sd of log times within a cell of this curve")


class DensityFit(Frozen):
    """X(v) = g*v / (1 + alpha*(v-1) + beta*v*(v-1)) (USL, Gunther 2007), at one host count."""

    group: str
    disk_type: str
    hosts: int
    unit: str
    g_per_s: float
    alpha: float
    beta: float
    beta_fitted: bool = Field(description="false with fewer than 4 densities: beta is then 0")
    superlinear: bool = Field(description="alpha < 0")
    cells: tuple[CellFit, ...]


class InteractionFit(Frozen):
    group: str
    disk_type: str
    verdict: Annotated[
        Literal["present", "not shown", "untested"],
        BeforeValidator(
            lambda value: "not shown" if value == "absent" else value
        ),  # its older word
    ]
    p: float | None


class Placed(Frozen):
    group: str
    disk_type: str
    hosts: int
    vms_per_host: int


class UtilizationFit(UtilizationLaw, Placed):
    """U = idle + per_rate * X (utilization law, Denning and Buzen 1978), percent of the hosts' cores."""


class LatencyFit(LatencyCurve, Placed):
    """R = S * (1 + k * rho^(sqrt(2(c+1))-1) / (c*(1-rho))) (M/M/c, Sakasegawa 1977)."""

    operation: str
    percentile: float
    largest_rate: float = Field(description="what rho is a share of, things a second")


class Model(Frozen):
    format: Literal[1] = FORMAT
    created: str = Field(description="UTC, ISO 8601")
    sources: tuple[str, ...]
    points: tuple[Point, ...]
    scaling: tuple[ScalingFit, ...]
    density: tuple[DensityFit, ...]
    interactions: tuple[InteractionFit, ...]
    utilization: tuple[UtilizationFit, ...]
    latency: tuple[LatencyFit, ...]
    excuses: tuple[str, ...] = Field(description="what could not be fitted, and what to measure")
    warnings: tuple[str, ...] = Field((), description="cliffs: where a resource may run out")

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(sorted({point.group for point in self.points}))


def read_model(path: Path) -> Model:
    """Read a model. InputError if the file is not one, or of another format version."""
    try:
        value: Any = present(json.loads(read_named(path, MOST_BYTES)), Model)
    except (OSError, ValueError, RecursionError) as error:
        what = f"the model cannot be read: {why_unread(error)}."
        raise InputError(what, str(path), "create one with study capacity fit.") from error
    found = value if isinstance(value, dict) else {}
    if found.get("kind") in ("plan", "excuse"):
        raise InputError(
            f"this is a {found['kind']} from study capacity size, not a model.",
            str(path),
            "name the model from which the plan was computed, or a CSV file of points.",
        )
    if found.get("format") != FORMAT:
        raise InputError(
            f"the model has format {found.get('format')!r}; this version reads format {FORMAT}.",
            str(path),
            "fit it again with this version: study capacity fit.",
        )
    try:
        return Model.model_validate(value)
    except ValidationError as error:
        remedy = "create it again with study capacity fit."
        raise InputError(f"{why_unread(error)}.", str(path), remedy) from error


def write_model(model: Model, path: Path) -> None:
    """Write the model atomically."""
    write_text(path, model.model_dump_json(indent=1) + "\n")
