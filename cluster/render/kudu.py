"""Command lines of Kudu's master and tablet servers, which have no files of configuration. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Literal

from density_study.cluster.model.topology import Node
from density_study.cluster.render.blueprint import Blueprint

Program = Literal["kudu-master", "kudu-tserver"]
OVERHEAD_MIB = 96
"""Of a server beyond its heap: programs, libraries and stacks. Measured, see docs/stores.md."""
_LOG_SEGMENTS_MIB = 16
"""Disk of each tablet, however little is written: two segments of its log."""
_CONTAINER_MIB = 32
"""Disk of a container of blocks, as it is allocated. A flush writes one for each column, and some more."""
_CACHE_SHARE = 0.3
"""Of the limit. Kudu flushes at 60 % of it, and advises at most half of that for the cache."""
_TABLETS_AT_ONCE = 1000
"""Of a new table, per tablet server. Kudu's preset of 60 is for tables that grow later."""


def limit_mib(node: Node) -> int:
    """The heap that a server may fill: writes are slowed down and then refused near it. Its allocator keeps
    up to a tenth of that as free lists, which the server does not count."""
    return (node.memory_mib - OVERHEAD_MIB) * 10 // 11


def cache_mib(node: Node) -> int:
    """The block cache, which is part of the limit."""
    return int(limit_mib(node) * _CACHE_SHARE)


def least_disk_mib(tablets: int, fields: int) -> int:
    """What a tablet server takes on disk however few rows it has: measured, see docs/stores.md."""
    return tablets * _LOG_SEGMENTS_MIB + (fields + 4) * _CONTAINER_MIB


def kudu_environment(home: PurePath) -> Mapping[str, str]:
    """Where Kudu's libraries find each other, before those of the machine, and the plug-ins of SASL: what is
    built into them does not say."""
    return {"LD_LIBRARY_PATH": f"{home}/lib", "SASL_PATH": f"{home}/lib/sasl2"}


def kudu_home(blueprint: Blueprint) -> PurePath:
    """The folder with bin and lib."""
    assert blueprint.homes.store is not None
    return blueprint.homes.store.parents[1]


def _data_folders(blueprint: Blueprint, node: Node) -> tuple[str, ...]:
    """All drives of a worker that has several; by default the one with the log."""
    folders = blueprint.places.data_of(node)
    several = ",".join(f"{folder}/kudu-data" for folder in folders)
    return (f"--fs_data_dirs={several}",) if len(folders) > 1 else ()


def kudu_argv(blueprint: Blueprint, node: Node, program: Program) -> tuple[str, ...]:
    synced = str(blueprint.topology.store.durability == "synced").lower()
    ports = blueprint.ports
    master = ports.address(blueprint.topology.master, "kudu-master.rpc")
    return (
        f"{kudu_home(blueprint)}/bin/{program}",
        f"--fs_wal_dir={blueprint.data(node)}/kudu",
        *_data_folders(blueprint, node),
        f"--rpc_bind_addresses={ports.address(node, f'{program}.rpc')}",
        f"--webserver_interface={node.address}",
        f"--webserver_port={ports.port(node, f'{program}.http')}",
        f"--memory_limit_hard_bytes={limit_mib(node) * 2**20}",
        f"--block_cache_capacity_mb={cache_mib(node)}",
        f"--log_force_fsync_all={synced}",
        # Which replicas there are, and who leads: synced as the log is.
        f"--cmeta_force_fsync={synced}",
        # The clock of the machine as it is: a study needs no NTP. Kudu calls that unsafe.
        "--time_source=system_unsync",
        # Without it, hosts with public addresses, and containers in 198.18.0.0/15, are refused: users have no
        # passwords.
        "--trusted_subnets=0.0.0.0/0",
        "--unlock_unsafe_flags=true",
        # Lets the tool that settles tables set the age at which rows are flushed; no other one is set.
        "--unlock_experimental_flags=true",
        # Logs go to stderr, and nothing to /tmp.
        "--logtostderr=true",
        "--metrics_log_interval_ms=0",
        "--enable_minidumps=false",
        f"--tserver_master_addrs={master}"
        if program == "kudu-tserver"
        else f"--max_create_tablets_per_ts={_TABLETS_AT_ONCE}",
    )
