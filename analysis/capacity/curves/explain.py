"""`explain`: one curve and one prediction with all their numbers, to be checked by hand.

Every shape (shapes.py) under every deviation (deviation.py) is a pair with a weight: its weight before
the data times the likelihood of the measured levels. A pair predicts
log T(x) = shape(x) + its shift to the levels + its gain times what the levels are off the shifted shape.
Beyond the measured counts, their mean is combined with four simple laws (beyond.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves import beyond
from density_study.analysis.capacity.curves.curve import Curve
from density_study.analysis.capacity.curves.deviation import Hypotheses
from density_study.analysis.capacity.curves.prediction import SUPPORTED, Prediction
from density_study.analysis.capacity.curves.shapes import Law
from density_study.analysis.capacity.curves.surface import FARTHEST, Surface, surfaces
from density_study.analysis.capacity.inputs.point import Point
from density_study.cluster.model.errors import InputError

SHOWN = 8  # the heaviest shapes and hypotheses: there may be hundreds of each


@dataclass(frozen=True)
class ShapeRow:
    """time_s: the pure law at the requested place, shifted to the mean of the measured levels."""

    law: Law
    parameters: tuple[float, ...]
    weight: float
    time_s: float


@dataclass(frozen=True)
class Explanation:
    """sds: standard deviations of log time, by source. mixture_s: the mean over shapes and deviations.
    simple_s: by simple law, and their weight `share`; both empty between the measured counts."""

    curve: Curve
    hosts: int
    middle: float
    shapes: tuple[ShapeRow, ...]
    hypotheses: Hypotheses
    hypothesis_weights: Floats
    prediction: Prediction
    sds: dict[str, float]
    unit: str
    mixture_s: float
    simple_s: dict[str, float]
    share: float

    @property
    def is_supported(self) -> bool:
        """Whether the points support a number: they are near, and the 90 % interval reaches at most SUPPORTED
        above it."""
        half = self.prediction.half_width(0)
        return self.curve.is_near(self.hosts) and float(np.expm1(half)) <= SUPPORTED

    def facts(self) -> dict[str, object]:
        """For other programs: work time at `hosts` with its 90 % interval, and where it comes from.
        time_s: None if the points do not support a number."""
        log_time, half = float(self.prediction.log_time[0]), self.prediction.half_width(0)
        return {
            "hosts": self.hosts,
            "unit": self.unit,
            "time_s": float(np.exp(log_time)) if self.is_supported else None,
            "low_s": float(np.exp(log_time - half)),
            "high_s": float(np.exp(log_time + half)),
            "mixture_s": self.mixture_s,
            "simple_laws_s": self.simple_s,
            "weight_of_simple_laws": self.share,
            "sds_of_log_time": self.sds,
            "degrees_of_freedom": float(self.prediction.degrees),
            "levels": dict(zip(self.curve.x.tolist(), self.curve.levels.tolist(), strict=True)),
            "shapes": [
                {
                    "law": row.law.name,
                    "formula": row.law.formula,
                    "parameters": dict(zip(row.law.parameters, row.parameters, strict=True)),
                    "weight": row.weight,
                    "time_s": row.time_s,
                }
                for row in self.shapes
            ],
        }


def surface_of(points: Sequence[Point], group: str, disk_type: str) -> Surface:
    """disk_type: may be empty if the group has only one. InputError if the group or disk type is unknown."""
    every = surfaces(points)
    disk_types = [one for name, one in every if name == group]
    if not disk_types:
        known = ", ".join(sorted({name for name, _ in every}))
        raise InputError(f"there is no group {group!r}.", "--group", f"name one of {known}.")
    if disk_type not in disk_types and (disk_type or len(disk_types) > 1):
        fault = "the group has several disk types."
        if disk_type:
            fault = f"{group!r} was not measured on {disk_type!r}."
        raise InputError(fault, "--disk-type", f"name one of {', '.join(disk_types)}.")
    return every[group, disk_type or disk_types[0]]


def explain(surface: Surface, vms_per_host: int, hosts: int) -> Explanation:
    """InputError if the density has no curve, or the hosts are beyond its forecast."""
    curve = surface.variants.get(vms_per_host)
    if curve is None or vms_per_host not in surface.scalable:
        known = ", ".join(str(v) for v in surface.scalable) or "none"
        raise InputError(
            f"{surface.group} on {surface.disk_type} has no curve over hosts at {vms_per_host} VMs per host.",
            "--vms-per-host",
            f"name a density with 3 or more host counts: {known}.",
        )
    if hosts > FARTHEST * curve.x[-1]:
        most = int(FARTHEST * curve.x[-1])
        raise InputError(
            f"{hosts} hosts are beyond the forecast.", "--count", f"name at most {most}."
        )
    calibration, x = surface.scaling, np.array([float(hosts)])
    mixed = calibration.mixed(curve)
    weights = mixed.weights(calibration.log_weights)
    of_shapes, of_hypotheses = weights.sum(axis=0), weights.sum(axis=1)
    heaviest = np.argsort(-of_hypotheses)[:SHOWN]
    times = np.exp(mixed.at(x)[:, 0] + mixed.levels.mean())
    mixture, prediction = calibration.predict(curve, x), beyond.predict(calibration, curve, x)
    outside = hosts > curve.x[-1]
    simple = zip(beyond.LAWS, beyond.simple_laws(curve, x)[:, 0].tolist(), strict=True)
    return Explanation(
        curve=curve,
        hosts=hosts,
        middle=mixed.middle,
        shapes=_rows(mixed.shapes.laws, of_shapes, times),
        hypotheses=calibration.hypotheses[heaviest],
        hypothesis_weights=of_hypotheses[heaviest],
        prediction=prediction,
        sds=_sds(mixture, prediction),
        unit=surface.unit,
        mixture_s=float(np.exp(mixture.log_time[0])),
        simple_s=dict(simple) if outside else {},
        share=float(beyond.share_of_laws(mixture)[0]) if outside else 0.0,
    )


def _sds(mixture: Prediction, prediction: Prediction) -> dict[str, float]:
    # Law of total variance: the total less the mean within hypotheses is the variance between them.
    own = float(mixture.shares @ mixture.covariances[:, 0, 0])
    apart = float(mixture.covariance[0, 0]) - own
    laws = float(prediction.covariance[0, 0] - mixture.covariance[0, 0])
    return {
        "the curve, within a deviation": own**0.5,
        "the deviations' means apart": max(apart, 0.0) ** 0.5,  # rounding may leave -1e-18
        "the simple laws and the mean apart": max(laws, 0.0) ** 0.5,
        "a build of the cluster": float(prediction.shares @ prediction.cells) ** 0.5,
        "a repetition": prediction.repeat**0.5,
    }


def _rows(
    laws: tuple[tuple[Law, Floats], ...], weights: Floats, times: Floats
) -> tuple[ShapeRow, ...]:
    """The shapes of the largest weights (K,), with their times (K,)."""
    every = [(law, tuple(row.tolist())) for law, rows in laws for row in rows]
    heaviest = np.argsort(-weights)[:SHOWN]
    return tuple(
        ShapeRow(every[i][0], every[i][1], float(weights[i]), float(times[i])) for i in heaviest
    )
