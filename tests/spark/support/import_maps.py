"""Maps for records of this program's own runs: what a stranger would have to write to import them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from density_study.cluster.model.topology import Topology
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.testdfsio.setting import DfsioSetting
from density_study.workloads.ycsb.setting import YcsbSetting


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
        "arms": {name: _arm(topology) for name, topology in topologies.items()},
        "trials": [_trial(manifest) for manifest in known],
    }  # fmt: skip
    return yaml.safe_dump(value, sort_keys=False)


def _arm(topology: Topology) -> dict[str, Any]:
    return {
        "medium": topology.arm.medium,
        "vms_per_host": topology.arm.vms_per_host,
        "regionservers_per_node": topology.arm.regionservers_per_node,
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
    patterns = sorted(raw) if isinstance(manifest.setting, DfsioSetting) else [f"{record}/raw/*"]
    return {
        "arm": manifest.topology.name,
        "repetition": manifest.repetition,
        **_workload(manifest),
        "window": {
            "start": manifest.window.start_epoch_s,
            "end": manifest.window.end_epoch_s,
        },
        "exit_code": manifest.clients[0].exit_code,
        "files": [*patterns, *monitors],
    }


def _workload(manifest: Manifest) -> dict[str, Any]:
    setting = manifest.setting
    if isinstance(setting, YcsbSetting):
        timed = {"duration": setting.duration_s, "warm_up": setting.cut_s or None}
        knobs = {name: f"{value} s" for name, value in timed.items() if value is not None}
        return {
            "ycsb": {
                "mix": setting.mix,
                "records": setting.records,
                "threads": setting.threads // setting.clients,  # a map says those of one client
                **knobs,
            }
        }
    assert isinstance(setting, DfsioSetting)
    return {
        "testdfsio": {
            "mode": setting.mode,
            "files": setting.files,
            "file_size": f"{setting.file_size_mib} MiB",
            "read_size": f"{setting.read_size_bytes} B",
        }
    }


def write_map(folder: Path, manifests: Iterable[Manifest]) -> Path:
    path = folder / "map.yaml"
    path.write_text(own_map(manifests))
    return path
