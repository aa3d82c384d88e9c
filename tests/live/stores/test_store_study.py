"""Redis and RocksDB as stores of a study: records with every operation accounted for, and nothing left."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.state.journal import Journal
from density_study.jobs.first_look.look import first_look
from tests.live.support.command import left_of
from tests.live.support.measured import Measured, operations_of

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SPEC = Path(__file__).with_name("stores.yaml")


def test_every_trial_is_complete_and_no_operation_failed(done: Measured) -> None:
    run, manifests = done
    assert len(manifests) == 4
    for name, manifest in manifests.items():
        assert (manifest.state, manifest.reasons) == ("complete", ())
        counts = operations_of(run, name)
        assert all(count.ok > 0 and count.failed == 0 for count in counts.values())
        assert first_look(run.records / name).rate


def test_scans_are_scans_and_inserted_rows_are_in_the_store(done: Measured) -> None:
    run, manifests = done
    for name, manifest in manifests.items():
        before, after = manifest.state_before["store"], manifest.state_after["store"]
        if "half-scans" not in name:
            assert (before["rows"], after["rows"]) == (0, 2000)
            continue
        counts = operations_of(run, name)
        assert set(counts) == {"SCAN", "INSERT"}
        assert before["rows"] == 2000
        assert after["rows"] == 2000 + counts["INSERT"].ok


def test_store_version_and_durability_are_disclosed(done: Measured) -> None:
    _, manifests = done
    stores = {m.build: m.disclosure["store"] for m in manifests.values()}
    assert {(store["name"], store["durability"]) for store in stores.values()} >= {
        ("RocksDB", "page_cache")
    }
    assert all(store["version"] and len(store["sha256"]) == 64 for store in stores.values())
    redis = next(m for m in manifests.values() if "redis" in m.build)
    state = redis.state_after["store"]  # as the server itself shows it
    assert (state["appendonly"], state["appendfsync"]) == ("yes", "no")


def test_nothing_of_the_builds_is_left(done: Measured) -> None:
    run, _ = done
    assert left_of(run.root) == []
    made = {intent.path for b in run.plan.builds for intent in Journal(run.journal.path).intents(
        "make-dir", run.site(b).tag)}  # fmt: skip
    assert made
    assert not [path for path in made if Path(path).exists()]
