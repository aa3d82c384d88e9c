"""Maps for records of this program's own runs: what a stranger would have to write to import them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from density_study.cluster.model.topology import Topology
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.testdfsio.test_case import DfsioTestCase
from density_study.workloads.ycsb.test_case import YcsbTestCase


def own_map(manifests: Iterable[Manifest]) -> str:
    """A map of the folder `records/` of a run, with everything that its manifests know."""
    known = sorted(manifests, key=lambda manifest: manifest.order)
    topologies = {m.topology.name: m.topology for m in known if isinstance(m.topology, Topology)}
    offsets = {entry.host: entry.before_s for m in known for entry in m.clock}
    hosts = {host.name: host for t in topologies.values() for host in t.hosts}
    value = {
        "study": "imported",
        "hosts": [
            {"name": host.name, "cores": host.cores, "memory": f"{host.memory_mib} MiB",
             "roles": list(host.roles), "clock_offset": f"{offsets.get(host.name, 0.0)} s"}
            for host in hosts.values()
        ],
        "variants": {name: _variant(topology) for name, topology in topologies.items()},
        "trials": [_trial(manifest) for manifest in known],
    }  # fmt: skip
    return yaml.safe_dump(value, sort_keys=False)


def _variant(topology: Topology) -> dict[str, Any]:
    return {
        "disk_type": topology.variant.disk_type,
        "vms_per_host": topology.variant.vms_per_host,
        "regionservers_per_node": topology.variant.regionservers_per_node,
        "replication": topology.replication,
        "nodes": [
            {"name": node.name, "host": node.host, "roles": list(node.roles), "cores": node.cores,
             "memory": f"{node.memory_mib} MiB"}
            for node in topology.nodes
        ],
    }  # fmt: skip


def _trial(manifest: Manifest) -> dict[str, Any]:
    assert manifest.window is not None
    record = manifest.trial
    monitors = [{"file": f"{record}/{m.file}", "host": m.host} for m in manifest.monitors]
    raw = {f"{record}/raw/{name}" for name in ("*", "io/*", "history/*")}
    patterns = sorted(raw) if isinstance(manifest.test_case, DfsioTestCase) else [f"{record}/raw/*"]
    return {
        "variant": manifest.topology.name,
        "repetition": manifest.repetition,
        **_workload(manifest),
        "window": {"start": manifest.window.start_epoch_s, "end": manifest.window.end_epoch_s},
        "exit_code": manifest.clients[0].exit_code,
        "files": [*patterns, *monitors],
    }


def _workload(manifest: Manifest) -> dict[str, Any]:
    test_case = manifest.test_case
    if isinstance(test_case, YcsbTestCase):
        timed = {"duration": test_case.duration_s, "warm_up": test_case.cut_s or None}
        knobs = {name: f"{value} s" for name, value in timed.items() if value is not None}
        return {
            "ycsb": {
                "mix": test_case.mix,
                "records": test_case.records,
                "threads": test_case.threads // test_case.clients,  # a map says those of one client
                **knobs,
            }
        }
    assert isinstance(test_case, DfsioTestCase)
    return {
        "testdfsio": {
            "mode": test_case.mode,
            "files": test_case.files,
            "file_size": f"{test_case.file_size_mib} MiB",
            "read_size": f"{test_case.read_size_bytes} B",
        }
    }


def write_map(folder: Path, manifests: Iterable[Manifest]) -> Path:
    path = folder / "map.yaml"
    path.write_text(own_map(manifests))
    return path
