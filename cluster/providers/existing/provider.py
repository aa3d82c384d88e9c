"""Provider `existing`: the study's folder, namespace and jobs on a cluster that others built.

Nothing else of the cluster is ever written, moved, flushed, balanced or restarted. The one node is the client
on this machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from density_study.cluster.machine import directories
from density_study.cluster.machine.describe import describe_machine
from density_study.cluster.model.access import Access
from density_study.cluster.model.cluster import Endpoints, Site
from density_study.cluster.model.errors import InputError, StudyError, do_all, each_of
from density_study.cluster.model.existing import ExistingCluster
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.topology import ExistingTopology, Node
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.model.versions import HBASE, Versions, vendor_fault
from density_study.cluster.providers.existing import watched
from density_study.cluster.providers.existing.answers import Answers, ask, require_queue
from density_study.cluster.providers.existing.configuration import (
    copy_configuration,
    read_configuration,
)
from density_study.cluster.providers.existing.hdfs_folder import HdfsFolder
from density_study.cluster.providers.existing.joined import Joined
from density_study.cluster.providers.existing.login import (
    configuration_of,
    log_in,
    logged_in,
    looking,
    looking_again,
    renew,
    require_ticket_for,
)
from density_study.cluster.providers.existing.prometheus import instances_of
from density_study.cluster.providers.existing.tables import check_quota, look, table_tool
from density_study.cluster.providers.local.transport import LocalTransport
from density_study.cluster.providers.provider import Leftovers, Machine, Provider
from density_study.cluster.providers.ssh.build import SshBuild
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.render.conf_files import existing_client_files
from density_study.cluster.stack.recipes import client_of, hadoop_client_of
from density_study.cluster.stack.stack import brought_version
from density_study.cluster.state import atomic
from density_study.cluster.state.events import Event, ExistingRemoved, Intent
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import tagged

FOLDER, NAMESPACE, OWNED = "make-hdfs-folder", "make-namespace", "claim-namespace"
_WHAT = {FOLDER: "HDFS folder", NAMESPACE: "HBase namespace", OWNED: "namespace"}
RENEW_EVERY_S = 300.0
"""Period of renewing the clients' ticket during a trial: KDCs seldom give shorter ones."""


class ExistingProvider(Provider[ExistingTopology]):
    isolation = Isolation.UNKNOWN
    here = True  # the client
    no_network_factor = "the network of an existing cluster belongs to others"

    def check_existing(self, topology: ExistingTopology, needed_mib: int, for_s: float) -> None:
        """StudyError if the cluster does not answer, has no room for the study's data, or does not let its
        clients in for as long as the study takes. Changes nothing."""
        existing = topology.existing
        with looking(existing) as (configuration, access):
            configuration.check_jobs()
            require_ticket_for(existing, for_s)
            answers = ask(configuration, access)
            require_queue(answers.resourcemanager, existing.queue, access)
            if existing.prometheus is not None:
                instances_of(existing.prometheus, answers.hosts)
            folder = HdfsFolder(answers.namenode, existing.folder, access)
            folder.check_free()
            folder.check_room(needed_mib, urlsplit(configuration.get("hbase.rootdir")).path)
            words = ("namespace", "state", existing.namespace, "--tag", "")
            held = look(configuration.folder, access, *words)
        _check_free(existing, held)
        for said in held["quotas"] or ():
            check_quota(said, existing.namespace)
        if answers.free_mib < needed_mib:
            raise InputError(
                f"HDFS has {answers.free_mib:,} MiB left, and the study writes up to {needed_mib:,} MiB.",
                f"HDFS at {answers.namenode}",
                "reduce files, file_size or records.",
            )

    def versions(self, topology: ExistingTopology) -> Versions:
        """The cluster's Hadoop, and the client of its HBase. StudyError if it does not answer."""
        existing = topology.existing
        with looking(existing) as (configuration, access):
            words = ("servers", "--namespace", existing.namespace)
            hbase = look(configuration.folder, access, *words)
            hadoop = ask(configuration, access).hadoop
        return _client(existing, hadoop, hbase["version"])

    def create(self, site: Site, topology: ExistingTopology, journal: Journal) -> None:
        existing = topology.existing
        configuration = configuration_of(existing)
        for node in topology.nodes:
            directories.make(site, node, journal)
        watched.reach(site, existing, journal)
        conf = client_conf(site)
        copy_configuration(Path(existing.configuration), conf, existing.variables)
        access = log_in(existing, conf, site, journal)
        answers = ask(configuration, access)
        homes = ensure_stacks(_client(existing, answers.hadoop)).install_dirs()
        for name, text in existing_client_files(homes, conf, configuration.folder).items():
            atomic.write_text(conf / name, text, mode=0o600)
        folder = HdfsFolder(answers.namenode, existing.folder, access)
        folder.check_free()  # before the intent: what was there is not ours to remove
        journal.intend(FOLDER, site.tag, path=existing.folder)
        folder.make(site.tag)
        held = table_tool(conf, access, "namespace", "state", existing.namespace, "--tag", site.tag)
        _check_free(existing, held)
        journal.intend(NAMESPACE, site.tag, path=existing.namespace)
        table_tool(conf, access, "namespace", "create", existing.namespace, "--tag", site.tag)

    def join(self, site: Site, topology: ExistingTopology) -> Joined:
        """How to reach it, after `create`. StudyError if it does not answer."""
        existing = topology.existing
        configuration, access = configuration_of(existing), logged_in(client_conf(site))
        answers = ask(configuration, access)
        conf, namespace = client_conf(site), existing.namespace
        hbase = table_tool(conf, access, "servers", "--namespace", namespace)
        held = table_tool(conf, access, "namespace", "state", namespace, "--tag", site.tag)
        servers = {
            server["name"]: f"{configuration.hbase_scheme}{server['info']}"
            for server in hbase["servers"]
            if server["info"]
        }
        endpoints = Endpoints(
            {
                "namenode.rpc": {"namenode": configuration.get("fs.defaultFS")},
                "namenode.http": {"namenode": answers.namenode},
                "resourcemanager.http": {"resourcemanager": answers.resourcemanager},
                "zookeeper.client": {"zookeeper": configuration.get("hbase.zookeeper.quorum")},
                "regionserver.http": servers,
                "others.jmx": _daemons(answers, servers.values()),
            },
            access,
        )
        versions = _client(existing, answers.hadoop, hbase["version"])
        seen = {
            "hadoop": answers.hadoop,
            "hbase": hbase["version"],
            "datanodes": answers.datanodes,
            "regionservers": [server["name"] for server in hbase["servers"]],
            "hadoop_client": brought_version(versions),
            "hbase_client": versions.client,
            "hbase_quotas": held["quotas"],
            "unwatched": watched.unwatched(
                existing,
                (*answers.workers, *(_host(server["name"]) for server in hbase["servers"])),
            ),
            **({"security": configuration.security} if configuration.is_secure else {}),
        }
        return Joined(versions, endpoints, client_conf(site), seen)

    def transport(self, site: Site, journal: Journal) -> LocalTransport:
        return _Transport(client_conf(site), site.tag, journal)

    def machines(
        self, site: Site, topology: ExistingTopology, journal: Journal
    ) -> tuple[Machine, ...]:
        client = Machine(topology.client.host, topology.client, self.transport(site, journal))
        return (client, *watched.machines(site, topology.existing, journal))

    def disclose(self, topology: ExistingTopology) -> dict[str, Any]:
        machines = watched.describe(topology.existing)
        return {"machine": describe_machine(), **({"machines": machines} if machines else {})}

    def memory_mib(self, topology: ExistingTopology) -> int:
        memory: int = describe_machine()["memory_mib"]
        return memory

    def destroy(self, site: Site, journal: Journal) -> None:
        def remove(intent: Intent) -> None:
            self._remove(site, intent)
            journal.record(ExistingRemoved(tag=site.tag, act=intent.act, path=intent.path))

        build = SshBuild.of(site, journal)
        do_all(
            LocalTransport(site.tag, journal).stop_tagged,
            lambda: build.destroy() if build else None,
            lambda: each_of(_standing(site, journal), remove),
            lambda: directories.remove(site, journal),
        )

    def leftovers(self, site: Site, journal: Journal) -> Leftovers:
        found = (self._found(site, intent) for intent in _standing(site, journal))
        build = SshBuild.of(site, journal)
        there = build.leftovers() if build else ()
        return (*_here(site, journal), *there, *filter(None, found))

    def _found(self, site: Site, intent: Intent) -> str:
        """What the intent made and still exists, or may exist; empty if it does not."""
        try:
            tag = self._tag(site, intent)
        except StudyError as error:
            return f"{_what(intent)}, perhaps: {error.what}"
        return _what(intent) if _is_ours(site, intent, tag) else ""

    def _tag(self, site: Site, intent: Intent) -> str | None:
        conf = client_conf(site)
        with looking_again(conf) as access:
            if intent.act == FOLDER:
                return _folder(conf, intent, access).tag()
            held = table_tool(conf, access, "namespace", "state", intent.path, "--tag", site.tag)
        tag: str | None = held["tag"]
        return tag

    def _remove(self, site: Site, intent: Intent) -> None:
        """Remove what the intent made, and nothing that has another tag. StudyError if it is still there."""
        conf = client_conf(site)
        if not _is_ours(site, intent, self._tag(site, intent)):
            return
        with looking_again(conf) as access:
            if intent.act == FOLDER:
                _folder(conf, intent, access).remove(site.tag)
            else:
                table_tool(conf, access, "namespace", "drop", intent.path, "--tag", site.tag)
        if self._tag(site, intent) == site.tag:
            raise StudyError("it is still there.", _what(intent), "remove it.")


class _Transport(LocalTransport):
    """Clients start with a new ticket, and it is renewed while they run."""

    def __init__(self, conf: Path, tag: str, journal: Journal) -> None:
        super().__init__(tag, journal)
        self._conf, self._renewed_s = conf, 0.0

    def start(self, node: Node, command: Command, stdout: Path, stderr: Path) -> ProcessId:
        self._renew()
        return super().start(node, command, stdout, stderr)

    serve = start

    def wait(self, process: ProcessId, timeout_s: float) -> int:
        if time.monotonic() - self._renewed_s > RENEW_EVERY_S:
            with suppress(StudyError):  # the ticket still holds; the next start will tell
                self._renew()
        return super().wait(process, timeout_s)

    def _renew(self) -> None:
        self._renewed_s = time.monotonic()
        renew(self._conf)


def _client(existing: ExistingCluster, hadoop: str, hbase: str = "") -> Versions:
    """The clients of a cluster with these versions. InputError for a major version to which none speaks."""
    found = Versions(
        hadoop_client_of(hadoop),
        client=client_of(hbase) if hbase else HBASE,
        native=existing.native,
        tarball=existing.tarball,
    )
    version = brought_version(found)
    return found if vendor_fault(version) else replace(found, hadoop=version)


def _check_free(existing: ExistingCluster, held: Any) -> None:
    if held["tag"] is not None:
        raise InputError(
            f"HBase has the namespace {existing.namespace} already; a study makes its own, and removes it.",
            f"HBase of {existing.configuration}",
            "name another one in existing.namespace; `study reap` removes what killed runs left.",
        )


def client_conf(site: Site) -> Path:
    """The client's configuration as it was when the build began; tear-down uses the same."""
    return site.root.absolute() / "conf" / "client"


def _folder(conf: Path, intent: Intent, access: Access) -> HdfsFolder:
    return HdfsFolder(ask(read_configuration(conf), access).namenode, intent.path, access)


def _standing(site: Site, journal: Journal) -> list[Intent]:
    """What the build intended to make on the cluster, and did not remove since; the last one first."""
    standing: dict[tuple[str, str], Intent] = {}
    for event in journal.events(Event):
        if isinstance(event, Intent) and event.tag == site.tag and event.act in _WHAT:
            standing[event.act, event.path] = event
        elif isinstance(event, ExistingRemoved) and event.tag == site.tag:
            standing.pop((event.act, event.path), None)
    return list(reversed(standing.values()))


def _is_ours(site: Site, intent: Intent, tag: str | None) -> bool:
    """Judged by the tag. A namespace of HBase gets it as it is made, but the others a moment later."""
    return tag == site.tag or (tag == "" and intent.act != NAMESPACE)


def _host(server: str) -> str:
    """The host of a RegionServer named <host>,<port>,<start>."""
    return server.partition(",")[0]


def _daemons(answers: Answers, servers: Iterable[str]) -> dict[str, str]:
    """<host>/<daemon> -> address of its web server; the key of a second daemon of a kind on a host also has
    its port."""
    found: dict[str, str] = {}
    pages = {"namenode": [answers.namenode], "datanode": answers.pages, "regionserver": servers}
    for daemon, addresses in pages.items():
        for address in addresses:
            host, _, port = address.rpartition("/")[2].rpartition(":")
            name = f"{host}/{daemon}"
            found[f"{name}-{port}" if name in found else name] = address
    return found


def _what(intent: Intent) -> str:
    return f"{_WHAT[intent.act]} {intent.path}"


def _here(site: Site, journal: Journal) -> list[str]:
    """Processes and directories on this machine."""
    return [*map(str, tagged(site.tag)), *map(str, directories.made(site, journal))]
