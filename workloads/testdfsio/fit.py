"""Whether a topology can do what a TestDFSIO setting asks; said before anything is started. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from cluster.model.errors import InputError
from cluster.model.memory import CONTAINER_MIB
from cluster.model.topology import Topology
from cluster.render.hdfs import STORAGE
from workloads.testdfsio.setting import DfsioSetting, units_of

_WANTED: dict[str, tuple[str, str]] = {
    "HOT": ("DISK", "DISK"),
    "WARM": ("DISK", "ARCHIVE"),
    "COLD": ("ARCHIVE", "ARCHIVE"),
    "ALL_SSD": ("SSD", "SSD"),
    "ONE_SSD": ("SSD", "DISK"),
    "LAZY_PERSIST": ("RAM_DISK", "DISK"),
    "ALL_NVDIMM": ("NVDIMM", "NVDIMM"),
    "PROVIDED": ("PROVIDED", "DISK"),
}
"""Storage of a block's first replica and of the others (BlockStoragePolicySuite, Hadoop 3.4)."""


def maps_at_once(topology: Topology) -> int:
    """The most maps YARN can run at one moment: all containers but the ApplicationMaster's."""
    containers = sum(worker.container_mib // CONTAINER_MIB for worker in topology.workers)
    return max(containers - 1, 0)


def require_fit(settings: Iterable[object], topology: Topology) -> None:
    """InputError for the first TestDFSIO setting that `topology` cannot carry out as asked."""
    for setting in settings:
        if isinstance(setting, DfsioSetting):
            _require_containers(setting, topology)
            _require_datanodes(setting, topology)
            _require_storage(setting, topology)


def _require_containers(setting: DfsioSetting, topology: Topology) -> None:
    most = maps_at_once(topology)
    if setting.readers is not None and setting.readers > most:
        raise InputError(
            f"{setting.readers} readers cannot run at once on {topology.name}: its memory holds "
            f"{most} map container(s) of {CONTAINER_MIB} MiB beside the ApplicationMaster's.",
            "workloads, key testdfsio.readers",
            f"ask for at most {most} readers, or give the hosts more memory.",
        )


def _require_datanodes(setting: DfsioSetting, topology: Topology) -> None:
    if setting.erasure_coding is None:
        return
    data, parity = units_of(setting.erasure_coding)
    have = len(topology.workers)
    if have < data + parity:
        raise InputError(
            f"{setting.erasure_coding} writes {data} data and {parity} parity units to "
            f"{data + parity} DataNodes; {topology.name} has {have}, so blocks would lack parity.",
            "workloads, key testdfsio.erasure_coding",
            f"give every topology {data + parity} workers, or choose a narrower policy.",
        )


def _require_storage(setting: DfsioSetting, topology: Topology) -> None:
    if setting.storage_policy is None:
        return
    first, others = _WANTED[setting.storage_policy]
    wanted = {first} if topology.replication == 1 else {first, others}
    offered, default = STORAGE[topology.medium]
    if wanted != {offered}:
        raise InputError(
            f"storage policy {setting.storage_policy} wants {' and '.join(sorted(wanted))}; the "
            f"DataNodes of {topology.name} offer {offered} alone, where HDFS would put the blocks "
            "without a word.",
            "workloads, key testdfsio.storage_policy",
            f"leave it out, or choose {default}; compare disks by factors.medium.",
        )
