"""What hosts of 8 to 512 GB get, and each variant of a study of ten hosts: heaps, containers, drives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from density_study.cluster.model.dividing.sizing import sizing_of
from density_study.cluster.model.host import Disk, Host
from density_study.cluster.model.memory import daemon_heaps
from density_study.cluster.model.placement import place
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.variant import Variant
from density_study.cluster.stores.store import render
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.planning.resolve import planned_hosts
from density_study.workloads.study.study_file import read_study
from tests.golden.conftest import Compare
from tests.golden.daemon_lines import below, commands
from tests.support.topologies import blueprint, layout_of

BIG = Path(__file__).with_name("big.yaml")
SITES = ("m1/hdfs-site.xml", "w1/hdfs-site.xml", "w1/mapred-site.xml", "w1/yarn-site.xml")


def files(topology: Topology) -> dict[str, str]:
    """What follows the size of a host."""
    rendered = render(blueprint(topology))
    sites = {site: rendered.files[f"nodes/{site}"] for site in SITES}
    return sites | commands(rendered)


def of_size(gib: int) -> dict[str, str]:
    """A master and a bare worker, with the memory that Linux reports of so many GB."""
    disks = tuple(Disk(f"/data/{number}", "flash") for number in range(1, 2 + gib // 32))
    memory_mib = gib * 1024 * 31 // 32
    hosts = [
        Host("m", "192.0.2.1", 16, memory_mib, disks[:1], ("master", "client")),
        Host("h", "192.0.2.2", 64, memory_mib, disks),
    ]
    variant = Variant(0, 1, "flash", sizing=sizing_of(hosts))
    (topology,) = place(hosts, [variant], layout_of("physical"))
    return below(f"{gib}-gb", files(topology))


def test_hosts(golden: Compare) -> None:
    golden("hosts", of_size(8) | of_size(64) | of_size(256) | of_size(512))


def test_ten_hosts(golden: Compare) -> None:
    study = read_study(BIG).study
    plan = make_plan(study, planned_hosts(study, Path("/nonexistent/runs")))
    assert len(plan.trials) == 5 * len(plan.topologies) * len(study.test_cases())
    topologies = plan.topologies.values()
    table = "".join(line for one in topologies if isinstance(one, Topology) for line in lines(one))
    golden("ten-hosts", {"variants.txt": table, "hours.txt": "".join(hours(plan))})


def hours(plan: Plan) -> Iterator[str]:
    """Yields the hours of each trial of the first repetition."""
    for step in sorted(plan.trials, key=lambda one: (one.build, one.order)):
        if step.repetition == 1:
            yield f"{step.label.removeprefix('trial ')}: {step.estimate_s / 3600:.1f} h\n"


def lines(topology: Topology) -> list[str]:
    """A variant's master, and its first and last worker."""
    workers = topology.workers
    nodes = [topology.master, workers[0], workers[-1]]
    return [f"{topology.name}: {len(workers)} workers\n", *(line(topology, node) for node in nodes)]


def line(topology: Topology, node: Node) -> str:
    heaps = daemon_heaps(node, topology.configuration, topology.variant.sizing)
    cache = topology.configuration.block_cache
    words = [
        f"{node.memory_mib} MiB, {node.cores} cores on {node.host}",
        f"heaps {' '.join(f'{kind} {mib}' for kind, mib in heaps.items())}",
        f"cache {cache.size_mib}" if cache and node.regionservers else "no cache",
        f"containers {node.container_mib}",
        f"drives {' '.join(disk.path.removeprefix('/data/') for disk in node.disks)}",
    ]
    return f"  {node.name}: {'; '.join(words)}\n"
