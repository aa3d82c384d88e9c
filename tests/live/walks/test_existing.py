"""docs/tutorials/existing-cluster.md, on a cluster that others built on this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.support.foreign import FOLDER, ForeignCluster, foreign_cluster
from tests.live.support.walk import Change, walking

pytestmark = pytest.mark.timeout(1100)
SMALLER = "the cluster has two shared cores, and the walk few minutes"


@pytest.fixture
def foreign(tmp_path: Path) -> Iterator[ForeignCluster]:
    with foreign_cluster(tmp_path / "foreign") as cluster:
        yield cluster


def test_the_cluster_that_you_have(foreign: ForeignCluster, tmp_path: Path) -> None:
    before, folder = foreign.canaries(), tmp_path / "walk"
    folder.mkdir()
    with walking("tutorials/existing-cluster.md", folder) as walk:
        walk.until("study plan")
        walk.change(
            "production.yaml",
            Change("/etc/hadoop-client", str(foreign.conf), "its administrators gave this folder"),
            Change("/user/me/density-study", FOLDER, "the test's user may write there"),
            Change("files: 8, file_size: 1 GiB", "files: 2, file_size: 32 MiB", SMALLER),
            Change("1_000_000", "5_000", SMALLER),
            Change("[16]", "[2]", SMALLER),
            Change(
                "duration: 2 min",
                "duration: 6 s, warm_up: 2 s, warm_up_client: off, warm_up_daemons: off",
                SMALLER,
            ),
            Change("repetitions: 5", "repetitions: 1", SMALLER),
        )
        plan = walk.to("study plan")
        assert "\nasks " in plan.output
        deep = walk.to("study doctor production.yaml --deep")
        assert "one map writes 1 MiB" in deep.words and "nothing is left" in deep.words
        walk.to("study run production.yaml")
        assert foreign.left_of_studies() == []
        walk.to("study run production.yaml --fresh")
        earlier, later = sorted(folder.glob("runs/production/2*/report/index.html"))
        compared = walk.to("")
        assert {earlier.parents[1].name, later.parents[1].name} <= {
            *re.findall(r"\w+", compared.words)
        }
    assert foreign.left_of_studies() == []
    assert foreign.canaries() == before
