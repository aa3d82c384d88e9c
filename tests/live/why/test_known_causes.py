"""A pause for GC, a forced major compaction and a throttled disk are each named; quiet trials name none.

WHY_TRIALS: trials of each kind (default 2; the goals are 9 of 10, and none in 19 of 20). On a machine that
others use, quiet trials have causes of their own.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from density_study.cluster.machine.io_limits import cgroup_version
from density_study.cluster.model.errors import InputError
from density_study.workloads.monitors import DEVICES, MONITORS
from density_study.workloads.record.manifest import Manifest
from tests.live.why.standing import LARGE, TEST_CASE, Standing, at_s, standing

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(3600)]

TRIALS = int(os.environ.get("WHY_TRIALS", "2"))
AFTER_S = 12.0
"""A disturbance's slow seconds begin this soon after it."""


def _can_throttle() -> bool:
    try:
        return cgroup_version() > 0
    except InputError:
        return False


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with standing(tmp_path_factory.mktemp("why"), os.getpid()) as made:
        made.trial("first", warm_up_daemons_s=60)  # loads the table, and is not looked at
        yield made


def _named(cluster: Standing, manifest: Manifest, disturbed_s: float) -> set[str]:
    """The causes of slow seconds that began soon after the disturbance."""
    rows = cluster.explained()[manifest.trial]
    for row in rows:
        print(manifest.trial, row["sentence"])
    near = [row for row in rows if -2 <= row["first"] - disturbed_s <= AFTER_S]
    return {kind for row in near for kind in (row["cause"], *row["also"]) if kind}


DISTURBANCES: Mapping[str, tuple[str, Callable[[Standing], Callable[[], object]]]] = {
    "compact": ("compaction", lambda cluster: cluster.compact),
    "pause": ("gc-pause", lambda cluster: cluster.pause),
    "throttle": ("io-wait", lambda cluster: cluster.throttle),
}


@pytest.mark.parametrize("name", DISTURBANCES)
def test_a_disturbance_is_named(cluster: Standing, name: str) -> None:
    if name == "throttle" and not _can_throttle():
        pytest.skip("no cgroup can limit I/O here")
    kind, disturb = DISTURBANCES[name]
    test_case = TEST_CASE
    if name == "compact":
        test_case = LARGE
        cluster.trial("large", test_case=test_case)
    trials = [cluster.trial(name, disturb(cluster), test_case) for _ in range(TRIALS)]
    found = [_named(cluster, trial, at_s(test_case)) for trial in trials]
    assert sum(kind in one for one in found) >= math.floor(0.9 * TRIALS), found


def test_a_quiet_trial_names_none(cluster: Standing) -> None:
    trials = [cluster.trial("quiet").trial for _ in range(2 * TRIALS)]
    found: dict[str, Any] = {
        trial: [row["sentence"] for row in cluster.explained()[trial] if row["cause"]]
        for trial in trials
    }
    assert sum(map(bool, found.values())) <= math.ceil(0.05 * 2 * TRIALS) - 1, found


def test_every_device_left_a_file_and_no_jvm_logs_any_more(cluster: Standing) -> None:
    manifest = cluster.trial("devices")
    assert {run.kind for run in manifest.monitors} == {*MONITORS, *DEVICES}
    assert not list(cluster.cluster.site.root.rglob("*.gc.log"))
