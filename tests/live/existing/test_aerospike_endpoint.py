"""An Aerospike that others run. No package registry has a server: name one to have these tests run.

DENSITY_STUDY_AEROSPIKE=HOST:PORT/NAMESPACE, or HOST:PORT/NAMESPACE/synced if it has commit-to-device. The
tests write and remove records of the sets bench-rows, bench-owner and others-owner in that namespace.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.existing.endpoint_tool import ask_store, endpoint_properties
from density_study.workloads.planning.planned_study import outlined_study
from tests.live.existing.endpoints import check_measured
from tests.live.support.command import study, study_run, wait_for
from tests.live.support.measured import measured

SERVER = os.environ.get("DENSITY_STUDY_AEROSPIKE", "")
pytestmark = [
    pytest.mark.skipif(not SERVER, reason="DENSITY_STUDY_AEROSPIKE names no server"),
    pytest.mark.live,
    pytest.mark.timeout(400),
]
STUDY = """
study: live-aerospike
provider: existing
store: {name: aerospike, durability: DURABILITY}
existing:
  namespace: bench
  limits: {rate: off}
  endpoint: {addresses: ["ADDRESS"], server_namespace: NAMESPACE}
workloads:
  - ycsb: {records: [2_000], mixes: [load, {name: all-but-scans, read: 0.4, update: 0.3, insert: 0.3}],
           threads: [2], duration: 4 s, warm_up: 1 s, warm_up_client: off, warm_up_daemons: off}
repetitions: 1
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    address, namespace, *durability = SERVER.split("/")
    path = tmp_path / "study.yaml"
    path.write_text(
        STUDY.replace("ADDRESS", address)
        .replace("NAMESPACE", namespace)
        .replace("DURABILITY", durability[0] if durability else "memory")
    )
    return path


def properties_of(spec: Path) -> dict[str, str]:
    (topology,) = outlined_study(spec).plan.topologies.values()
    return endpoint_properties(topology)


@pytest.fixture
def others(spec: Path) -> Iterator[dict[str, str]]:
    """A record that is not of the study."""
    properties = {**properties_of(spec), "aerospike.set": "others", "tag": "of others"}
    ask_store(properties, "claim")
    yield properties
    ask_store(properties, "release")


def test_a_study_leaves_the_records_of_others_alone(
    tmp_path: Path, spec: Path, others: dict[str, str]
) -> None:
    with measured(spec, tmp_path / "runs") as done:
        check_measured(done, 2000)
        for manifest in done[1].values():
            assert "untried" in manifest.disclosure["existing"]["caution"]
    assert ask_store(properties_of(spec), "owner") == [{}]
    assert ask_store(others, "owner") == [{"tag": "of others"}]


def test_another_level_than_the_servers_keep_is_refused(tmp_path: Path, spec: Path) -> None:
    text = spec.read_text()
    other = "synced" if "durability: memory" in text else "memory"
    kept = "memory" if other == "synced" else "synced"
    spec.write_text(text.replace(f"durability: {kept}", f"durability: {other}"))
    with (
        pytest.raises(InputError, match=f"keep {kept} .*, and the study declares {other}"),
        measured(spec, tmp_path / "runs"),
    ):
        pass


def test_after_kill_9_reap_removes_the_records_of_the_study_alone(
    tmp_path: Path, spec: Path, others: dict[str, str]
) -> None:
    runs = tmp_path / "runs"
    with study_run(runs, spec=spec) as child:
        wait_for(runs, lambda entry: entry.get("state") == "running", 200)
        child.kill()
        child.wait()
        (owner,) = ask_store(properties_of(spec), "owner")
        assert owner["tag"].startswith("live-aerospike/")
        reaped = study("reap", "--runs", str(runs), runs=runs)
        assert reaped.returncode == 0, reaped.stdout + reaped.stderr
        assert "namespace bench" in reaped.stdout
    assert ask_store(properties_of(spec), "owner") == [{}]
    assert ask_store(others, "owner") == [{"tag": "of others"}]
