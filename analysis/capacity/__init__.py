"""From measured curves to a purchase: hosts, VMs per host, disk types, cost per genome, and how sure.

`fit` makes a `Model` out of points, `hold_out` tests it on points it has not seen, `size` turns it, a
profile and a host catalogue into a `Plan` or an `Excuse`. Reads CSV, YAML and a run's tables only.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
