"""Another package adds a store: by an entry point, without a change to this project."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.store import stores
from density_study.cluster.plugins import group_of

ROOT = Path(__file__).parents[4]
STORE = """
from density_study.cluster.model.store import MachineProgram
from density_study.cluster.stores.answers import answered
from density_study.cluster.stores.store import NOTHING, ClusterStore, server


class Toy(ClusterStore):
    name, title = "toy", "Toy"
    acknowledged = {"synced": "sync yes"}
    without = "it always syncs"
    services = ("toy",)
    program = MachineProgram(("toyd",), "toy-server", r"(\\w+) (\\S+)")
    db = "org.example.ToyDb"

    def part_of(self, blueprint, node):
        if "worker" not in node.roles:
            return NOTHING
        address = blueprint.ports.address(node, "toy")
        argv = ("/usr/bin/toyd", "--listen", address, "--data", str(blueprint.data(node)))
        return {"toy.conf": "sync yes\\n"}, (server(blueprint, node, "toy", argv, address),)

    def answer(self, address, network=""):
        return answered(address, network, b"HELLO\\n", rb"OK")
"""
STUDY = """
study: s
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]
factors: {vms_per_host: [2], store: [{name: hbase, durability: synced}, {name: toy, durability: synced}]}
workloads: [{ycsb: {records: [1000], mixes: [c], threads: [8]}}]
"""
RENDERED = """
from pathlib import Path
from density_study.cluster.stores.store import render, store_of
from density_study.workloads.planning.plan import Plan
from density_study.workloads.planning.planned_study import plan_study
from tests.support.topologies import blueprint

plan = plan_study(Path("s.yaml"), runs=Path("runs")).plan
assert Plan.model_validate_json(plan.model_dump_json()).topologies == plan.topologies
toy = plan.topologies["v2-flash-toy-synced"]
rendered = render(blueprint(toy))
print(*sorted(rendered.files))
print(*(daemon.command.argv[2] for daemon in rendered.daemons))
print(*(service.name for service in store_of(toy).readiness(toy, rendered.endpoints)))
"""


def install(folder: Path, point: str) -> None:
    (folder / "toy_store.py").write_text(STORE)
    info = folder / "toy_store-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-store\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group_of('store')}]\ntoy = {point}\n")


def test_it_is_planned_and_rendered(tmp_path: Path) -> None:
    install(tmp_path, "toy_store:Toy")
    (tmp_path / "s.yaml").write_text(STUDY)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    argv = [sys.executable, "-c", RENDERED]
    done = subprocess.run(
        argv, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == [
        "client/log4j.properties nodes/w1/toy.conf nodes/w2/toy.conf",
        "127.0.0.1:21000 127.0.0.1:21001",
        "w1/toy w2/toy",
    ], done.stderr


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages; the stores are looked up anew before and after."""
    monkeypatch.syspath_prepend(str(tmp_path))
    stores.cache_clear()
    yield tmp_path
    stores.cache_clear()
    sys.modules.pop("toy_store", None)


@pytest.mark.parametrize(
    ("point", "said"),
    [
        ("toy_store:Nothing", "cannot register a store.*Nothing"),
        ("os:path", "is not a Store"),
        ("density_study.cluster.stores.redis.store:Redis", "'redis' is registered twice"),
    ],
)
def test_a_package_that_cannot_be_used_is_named(packages: Path, point: str, said: str) -> None:
    install(packages, point)
    with pytest.raises(InputError, match=said) as caught:
        stores()
    assert caught.value.where == f"entry point toy = {point}, group density_study.stores"
