"""Beyond the measured host counts, a forecast is the mixture (calibration.py) combined with four simple laws.

No law is best on every cluster, and three or four levels cannot show which is. An inverse-variance mean of
forecasts is rarely worse than the best of them (J. Bates and C. Granger, Operational Research Quarterly 20,
1969): the surer the mixture is, the less the laws count.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import nnls

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves.calibration import Calibration
from density_study.analysis.capacity.curves.curve import Curve
from density_study.analysis.capacity.curves.prediction import Prediction
from density_study.analysis.capacity.curves.scaling import basis

# sd of the mean of the four laws from measured levels, in log: set on C3O and on generated clusters
LAWS_SD = 0.2
# factor of half widths: the combination errs less than the mixture, on whose errors they were calibrated
STRETCH = 0.95
LAWS = ("Amdahl", "universal scalability law", "1/n from the largest count", "line in log-log")


def predict(calibration: Calibration, curve: Curve, hosts: Floats) -> Prediction:
    """Prediction at hosts (k,): of the mixture between the measured counts, combined beyond them."""
    mixture = calibration.predict(curve, hosts)
    outside = hosts > curve.x[-1]
    if not outside.any():
        return mixture
    share = np.where(outside, share_of_laws(mixture), 0.0)
    apart = np.log(simple_laws(curve, hosts)).mean(axis=0) - mixture.log_time
    # law of total variance for two forecasts: what they disagree in widens the interval
    spread = np.sqrt(share * (1.0 - share)) * apart
    combined = mixture.moved(share * apart, np.outer(spread, spread))
    return replace(combined, stretch=mixture.stretch * np.where(outside, STRETCH, 1.0))


def share_of_laws(mixture: Prediction) -> Floats:
    """Weight of the laws at each place (k,), by the variance of one new measurement."""
    variance = (mixture.stretch * mixture.sds) ** 2
    result: Floats = variance / (variance + LAWS_SD**2)
    return result


def simple_laws(curve: Curve, hosts: Floats) -> Floats:
    """Work times (4, k) by each of LAWS, fitted to the levels of the curve."""
    x, levels = curve.x, curve.levels
    slope, level = np.polyfit(np.log(x), np.log(levels), 1)
    return np.stack(
        [
            _least_squares(x, levels, hosts, 2),
            _least_squares(x, levels, hosts, 3),
            levels[-1] * x[-1] / hosts,
            np.exp(level + slope * np.log(hosts)),
        ]
    )


def _least_squares(x: Floats, levels: Floats, hosts: Floats, terms: int) -> Floats:
    """a + b/n (+ c n), not negative, with the least relative errors."""
    found = nnls(basis(x)[:, :terms] / levels[:, None], np.ones(len(x)))[0]
    result: Floats = basis(hosts)[:, :terms] @ found
    return result
