"""What is read before and after the clients of a trial. A new reading is an entry here and a field of the
manifest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from density_study.cluster.model.cluster import Cluster
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.execution.block_caches import (
    CachesReading,
    caches_between,
    read_caches,
)
from density_study.workloads.execution.hosts_around_trial import between, read_guests
from density_study.workloads.execution.others import others_between, read_others
from density_study.workloads.monitors.prometheus.reading import Moment, exported_between


@dataclass(frozen=True)
class Reading:
    """`fact`: the field of the manifest. `read`: what shows now, "before" or "after" the clients. `between`:
    what follows from both readings. A StudyError of either ends the trial as failed."""

    fact: str
    read: Callable[[TrialContext, TestCase, str], Any]
    between: Callable[[Cluster, Any, Any], Any]


@contextmanager
def read_around(
    readings: Sequence[Reading], context: TrialContext, test_case: TestCase, facts: dict[str, Any]
) -> Iterator[None]:
    """Adds to the facts if the block ends without an error."""
    before = [one.read(context, test_case, "before") for one in readings]
    yield
    for one, first in zip(readings, before, strict=True):
        facts[one.fact] = one.between(context.cluster, first, one.read(context, test_case, "after"))


def _caches(context: TrialContext, test_case: TestCase, _: str) -> CachesReading | None:
    counted = test_case.uses_block_caches and context.cluster.endpoints.all("regionserver.http")
    return read_caches(context.cluster) if counted else None


MONITORS = (
    Reading(
        "caches",
        _caches,
        lambda cluster, before, after: before and caches_between(cluster, before, after),
    ),
    Reading(
        "others",
        lambda context, _, when: read_others(context, f"others-{when}"),
        lambda _, before, after: others_between(before, after),
    ),
    Reading(
        "exported",
        lambda context, *_: Moment(context, time.time()),
        lambda _, before, after: exported_between(before, after),
    ),
)
"""Around the monitors: these take seconds, and are no part of what monitors see."""
CLIENTS = (Reading("guests", lambda context, *_: read_guests(context.cluster), between),)
"""As close to the clients as can be: CPU time counts until the second reading."""
