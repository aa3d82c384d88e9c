"""HDFS' storage policies, erasure codings and codecs, by the names that HDFS and studies use, and whether a
topology can run a test case that requests them. Pure."""

from __future__ import annotations

from typing import Literal

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.plain import counted
from density_study.cluster.model.topology import Topology
from density_study.cluster.render.conf_files import storage_of

# HDFS 3.4, as listed by `hdfs storagepolicies -listPolicies`.
StoragePolicy = Literal[
    "HOT", "WARM", "COLD", "ALL_SSD", "ONE_SSD", "LAZY_PERSIST", "ALL_NVDIMM", "PROVIDED"
]
# HDFS' built-in policies: codec, data units, parity units, cell size.
ErasureCoding = Literal[
    "RS-6-3-1024k", "RS-3-2-1024k", "RS-LEGACY-6-3-1024k", "XOR-2-1-1024k", "RS-10-4-1024k"
]
Compression = Literal["gzip", "deflate", "bzip2", "snappy"]
# Number of each policy (HdfsConstants.StoragePolicy), and storage type of a block's first replica and of its
# others (BlockStoragePolicySuite, Hadoop 3.4).
POLICIES: dict[StoragePolicy, tuple[int, str, str]] = {
    "PROVIDED": (1, "PROVIDED", "DISK"),
    "COLD": (2, "ARCHIVE", "ARCHIVE"),
    "WARM": (5, "DISK", "ARCHIVE"),
    "HOT": (7, "DISK", "DISK"),
    "ONE_SSD": (10, "SSD", "DISK"),
    "ALL_SSD": (12, "SSD", "SSD"),
    "ALL_NVDIMM": (14, "NVDIMM", "NVDIMM"),
    "LAZY_PERSIST": (15, "RAM_DISK", "DISK"),
}


def units_of(policy: str) -> tuple[int, int]:
    """Data and parity units of an erasure coding policy: RS-6-3-1024k to (6, 3)."""
    *_, data, parity, _ = policy.split("-")
    return int(data), int(parity)


def maps_at_once(topology: Topology) -> int:
    """Maximum number of parallel maps: YARN's containers less one for the ApplicationMaster."""
    container_mib = topology.variant.sizing.container_mib
    containers = sum(worker.yarn_mib // container_mib for worker in topology.workers)
    return max(containers - 1, 0)


def require_containers(readers: int, topology: Topology) -> None:
    """InputError if the topology cannot run `readers` maps in parallel."""
    maximum = maps_at_once(topology)
    if readers > maximum:
        raise InputError(
            f"{readers} readers cannot run in parallel on {topology.name}: its memory holds "
            f"{counted(maximum, 'map container')} of {topology.variant.sizing.container_mib} MiB beside the "
            "ApplicationMaster's.",
            "workloads, key testdfsio.readers",
            f"use at most {maximum} readers, make stack.yarn.container smaller, or give the hosts "
            "more memory.",
        )


def require_nothing_of_existing(policy: StoragePolicy | None, coding: ErasureCoding | None) -> None:
    """InputError for what would change an existing cluster, or could not be verified there."""
    for key, asked, why in (
        (
            "storage_policy",
            policy,
            "the storage types of an existing cluster's DataNodes are not known",
        ),
        ("erasure_coding", coding, "it would have to be enabled for all of an existing cluster"),
    ):
        if asked is not None:
            raise InputError(
                f"{key} cannot be used with provider existing: {why}.",
                f"workloads, key testdfsio.{key}",
                "leave it out; the study's folder has the policies of its parent.",
                ("workloads",),
            )


def require_datanodes(policy: ErasureCoding, topology: Topology) -> None:
    """InputError if the topology has fewer DataNodes than the policy has units."""
    data, parity = units_of(policy)
    workers = len(topology.workers)
    if workers < data + parity:
        raise InputError(
            f"{policy} writes {data} data and {parity} parity units to "
            f"{data + parity} DataNodes; {topology.name} has {workers}, so blocks would lack parity.",
            "workloads, key testdfsio.erasure_coding",
            f"give every topology {data + parity} workers, or choose a narrower policy.",
        )


def require_cacheable(
    mode: str, whole_mib: float, coding: ErasureCoding | None, topology: Topology
) -> None:
    """InputError if HDFS's cache, where the topology has one, cannot hold what it must hold as a whole."""
    cache_mib = topology.variant.configuration.hdfs_cache_mib
    room_mib = cache_mib * len(topology.workers) // topology.replication
    if cache_mib and coding is not None:
        raise InputError(
            "HDFS's cache does not hold erasure-coded files as a whole.",
            "workloads, key testdfsio.erasure_coding",
            "leave it out, or remove the tier hdfs_pmem.",
            ("workloads",),
        )
    if cache_mib and whole_mib > room_mib:
        raise InputError(
            f"mode {mode} needs {whole_mib:g} MiB in HDFS's cache at once, which holds whole files, and on "
            f"{topology.name} there is room for {room_mib} MiB.",
            "workloads, key testdfsio.file_size",
            "make the tier larger, or the files smaller or fewer.",
            ("factors", "tier"),
        )


def require_storage(policy: StoragePolicy, topology: Topology) -> None:
    """InputError if the DataNodes lack a storage type of the policy: HDFS would silently use another."""
    _, first, others = POLICIES[policy]
    required = {first} if topology.replication == 1 else {first, others}
    offered, default = storage_of(topology)
    if required != {offered}:
        raise InputError(
            f"storage policy {policy} requires {' and '.join(sorted(required))}; the DataNodes of "
            f"{topology.name} offer only {offered}, and HDFS would silently store the blocks there.",
            "workloads, key testdfsio.storage_policy",
            f"leave it out, or choose {default}; compare disks by factors.disk_type.",
        )
