"""The curves of an answer: the load that a cluster carries by hosts, and each latency by utilization."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from density_study.analysis.capacity.inputs.ranged import quantiles
from density_study.analysis.capacity.operations.load import Load
from density_study.analysis.capacity.operations.option import Option, Size
from density_study.analysis.capacity.plan.plan import Curve, CurvePoint
from density_study.analysis.capacity.sizing.plan_curves import PLACES


def curves(option: Option, size: Size, load: Load) -> Iterator[Curve]:
    share = load.ops_s / size.clusters
    carried = option.carried
    yield Curve(
        title="Load by hosts",
        x="hosts of a cluster, of which one has failed",
        y="operations/s within every limit",
        points=tuple(
            CurvePoint(x=float(up) + 1, value=quantiles(carried[:, place]))
            for place, up in enumerate(option.supply.hosts)
        ),
        limit=share,
        limit_words=f"{share:,.0f} operations/s of one cluster",
        chosen=float(size.hosts),
        margin=quantiles(carried[:, option.place(size)] / share - 1),
    )
    rho = option.rho(size, load.ops_s)
    for limit, curve in option.curves.items():
        places = np.linspace(0.0, curve.fit.largest_rho, PLACES)
        yield Curve(
            title=f"{limit.quantity} by utilization",
            x="utilization: load over the rate at saturation",
            y="ms",
            points=tuple(
                CurvePoint(
                    x=float(at),
                    value=quantiles(1e3 * curve.seconds(np.full_like(curve.stretch, at))),
                )
                for at in places
            ),
            limit=1e3 * limit.limit_s,
            limit_words=str(limit),
            chosen=float(np.median(rho)),
            margin=quantiles(1 - curve.seconds(rho) / limit.limit_s),
        )
