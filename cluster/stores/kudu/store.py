"""Kudu: a master on the master, a tablet server on each worker. They have no files of configuration."""

from __future__ import annotations

import http.client
import platform
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import ClassVar, Literal
from zipfile import ZipFile

from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.ports import allocate_ports
from density_study.cluster.model.store import Durability, StoreStack
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.stack.machine_software import MachineSoftware
from density_study.cluster.stack.stack import Stack, ensure, locked, stack_home
from density_study.cluster.stack.store_software import UNPACKED, StoreSoftware
from density_study.cluster.state.plain_file import why_unread
from density_study.cluster.stores.answers import Fetch, Seen, Service, fetching
from density_study.cluster.stores.store import ClusterStore, Part, Where, server

Program = Literal["kudu-master", "kudu-tserver"]
OVERHEAD_MIB = 96
"""For a server beyond its heap: programs, libraries and stacks. Measured, see docs/stores.md."""
_LOG_SEGMENTS_MIB = 16
"""Disk of each tablet, however little is written: two segments of its log."""
_CONTAINER_MIB = 32
"""Disk of a container of blocks, as it is allocated. A flush writes one for each column, and some more."""
_CACHE_SHARE = 0.3
"""For the limit. Kudu flushes at 60 % of it, and advises at most half of that for the cache."""
_TABLETS_AT_ONCE = 1000
"""For a new table, per tablet server. Kudu's preset of 60 is for tables that grow later."""


class Kudu(ClusterStore):
    name = "kudu"
    title = "Kudu"
    acknowledged: ClassVar[Mapping[Durability, str]] = {
        "page_cache": "log_force_fsync_all=false: in the logs of most replicas before the reply",
        "synced": "log_force_fsync_all=true: synced in the logs of most replicas before the reply",
    }
    without = "every write goes through its log, which replicas agree on"
    master_services = ("kudu-master.rpc", "kudu-master.http")
    services = ("kudu-tserver.rpc", "kudu-tserver.http")
    stack = StoreStack("kudu", "1.18.1", Path(__file__).parent)
    stacks = (stack.name,)
    caution = (
        "Kudu's servers are a build that its publishers call testing only, never for production: "
        "its numbers are not those of a supported release"
    )
    db = "org.densitystudy.stores.kudu.KuduRows"
    admin = "org.densitystudy.stores.kudu.KuduAdmin"

    def software(self, machine: MachineSoftware) -> StoreSoftware:
        return ensure_programs()

    def part_of(self, blueprint: Blueprint, node: Node) -> Part:
        program: Program = "kudu-master" if "master" in node.roles else "kudu-tserver"
        argv = kudu_argv(blueprint, node, program)
        address = blueprint.ports.address(node, f"{program}.rpc")
        environment = kudu_environment(kudu_home(blueprint))
        return {}, (server(blueprint, node, program, argv, address, environment=environment),)

    def readiness(
        self, topology: Topology, endpoints: Endpoints, fetch: Fetch | None = None
    ) -> list[Service]:
        """From the master's page, which lists the servers that answer it."""
        ask = fetching(fetch, endpoints.network)
        page = allocate_ports(topology).address(topology.master, "kudu-master.http")
        return [
            Service(name, name, partial(kudu_answer, ask, page, address))
            for name, address in endpoints.all("store").items()
        ]

    def client_properties(self, where: Where) -> Mapping[str, str]:
        """Clients of the data need only the master, which names the tablet servers. The tool that settles
        tables asks their pages, and has `kudu` set a flag."""
        topology = where.cluster.built
        ports, workers = allocate_ports(topology), topology.workers
        return {
            "kudu.masters": ports.address(topology.master, "kudu-master.rpc"),
            "kudu.servers": ",".join(ports.address(one, "kudu-tserver.rpc") for one in workers),
            "kudu.pages": ",".join(ports.address(one, "kudu-tserver.http") for one in workers),
            "kudu.home": where.remote(programs_home()),
            "kudu.replication": str(topology.replication),
        }

    def more_disk_mib(self, data_mib: int, nodes: int, shapes: Sequence[tuple[int, int]]) -> int:
        return nodes * max((least_disk_mib(*shape) for shape in shapes), default=0)


def kudu_answer(fetch: Fetch, page: str, address: str) -> Seen:
    """The master lists the server at `address` among those that answer it now. `page`: the master's."""
    url = f"http://{page}/dump-entities"
    try:
        known = fetch(url)
        live = [one for one in known["tablet_servers"] if one["live"]]
        found = {at for one in (*known["masters"], *live) for at in one["rpc_addrs"]}
    except (OSError, http.client.HTTPException) as error:
        # Until the master has opened its catalog, it redirects to a page for people.
        return Seen(False, f"no answer from {url}: {why_unread(error)}")
    except (LookupError, TypeError, ValueError) as error:
        return Seen(False, f"servers not known yet at {url}: {why_unread(error)}")
    return Seen(address in found, f"the master knows {', '.join(sorted(found)) or 'no server'}")


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


def ensure_programs() -> StoreSoftware:
    """Kudu's servers, which a jar on Maven Central holds, unpacked in the cache.

    InputError on another processor, or if a part is missing."""
    machine = f"{platform.system()} {platform.machine()}"
    if machine != "Linux x86_64":
        raise InputError(
            f"Kudu's servers are published only for Linux on x86-64; this is {machine}.",
            "store kudu",
            "use another store, or a machine with such a processor.",
        )
    stack = ensure("kudu")
    _unpack(stack)
    program = programs_home() / "bin" / "kudu-tserver"
    return StoreSoftware("Kudu", stack.version, stack.jars_sha256, program)


def programs_home() -> Path:
    """The folder with bin, lib and www, once `ensure_programs` has returned."""
    return stack_home("kudu") / UNPACKED


def _unpack(stack: Stack) -> None:
    """The files of the jar, which was checked against the lock, beside it."""
    home = programs_home()
    aside = home.with_name("unpacking")
    with locked(stack.home):
        if home.exists():
            return
        shutil.rmtree(aside, ignore_errors=True)  # left by one that was killed
        (jar,) = (stack.home / "lib").iterdir()
        with ZipFile(jar) as archive:
            archive.extractall(aside)
        (inner,) = aside.glob("kudu-binary-*")
        for program in (inner / "bin").iterdir():
            program.chmod(0o755)  # a jar keeps no permissions
        inner.rename(home)
        shutil.rmtree(aside)


STORES = (Kudu,)
