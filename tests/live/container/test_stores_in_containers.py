"""Stores other than HBase in containers of this machine: every row accounted for, and nothing left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.support.containers import on_this_machine
from tests.live.support.measured import Measured, measured, operations_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
SPEC = Path(__file__).with_name("stores.yaml")
STORES = ("redis", "cassandra", "kudu", "accumulo")


@pytest.fixture(scope="module")
def before() -> set[str]:
    return on_this_machine()


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, before: set[str]) -> Iterator[Measured]:
    with measured(SPEC, tmp_path_factory.mktemp("runs")) as found:
        yield found


@pytest.mark.parametrize("store", STORES)
def test_every_row_is_accounted_for(done: Measured, store: str) -> None:
    run, manifests = done
    mine = {name: one for name, one in manifests.items() if f"-{store}-" in one.build}
    assert len(mine) == 2
    for name, manifest in mine.items():
        assert (manifest.state, manifest.reasons) == ("complete", ())
        assert manifest.isolation == "container"
        counts = operations_of(run, name)
        assert all(count.ok > 0 and count.failed == 0 for count in counts.values())
        assert manifest.state_after["store"]["rows"] == 2_000


def test_the_store_ran_in_a_container(done: Measured) -> None:
    for manifest in done[1].values():
        (worker,) = manifest.topology.workers
        assert not worker.address.startswith("127.")
        assert manifest.disclosure["containers"]["runc"]


def test_nothing_is_left(done: Measured, before: set[str]) -> None:
    assert on_this_machine() - before == set()
