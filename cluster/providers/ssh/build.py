"""`SshBuild`: makes a build on hosts over SSH, fetches its logs, removes it and proves it gone.

Everything works from the journal (`of`): the process that made the build is not needed.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from cluster.model.cluster import Site
from cluster.model.errors import HostLostError, InputError, StudyError
from cluster.model.topology import Node, Topology
from cluster.providers.provider import Leftovers
from cluster.providers.ssh.ansible import play
from cluster.providers.ssh.channel import channel
from cluster.providers.ssh.fan_out import on_all, try_all
from cluster.providers.ssh.host_leases import take_leases
from cluster.providers.ssh.leftovers import leftovers_on
from cluster.providers.ssh.stack_copies import SUMS, WHOSE, StackCopy, missing, work_folder
from cluster.providers.ssh.target import Target, target_from_json
from cluster.providers.ssh.toolkit import TOOLKIT, toolkit
from cluster.providers.ssh.transport import Place
from cluster.render.blueprint import NodePaths
from cluster.state.events import NodeReach
from cluster.state.journal import Journal
from cluster.state.runtime import runtime_dir

GRACE_S = 2.0
"""Between TERM and KILL: enough for logs to be written; nothing of a throw-away cluster is saved."""
_STOP_TIMEOUT_S = 90.0


class SshBuild:
    """`reach`: a node's name -> SSH server of its machine. `work`: the program's folder on each host."""

    def __init__(
        self, site: Site, journal: Journal, reach: Mapping[str, Target], work: PurePath
    ) -> None:
        self.site = site
        self.journal = journal
        self.reach = reach
        self.work = work
        self.hosts: dict[str, Target] = {target.host: target for target in reach.values()}

    @classmethod
    def of(cls, site: Site, journal: Journal) -> SshBuild | None:
        """The build by its journal; None if nothing of it was made."""
        events = [event for event in journal.events(NodeReach) if event.tag == site.tag]
        reach = {event.node: target_from_json(event.target) for event in events}
        if not reach:
            return None
        user = next(iter(reach.values())).user
        return cls(site, journal, reach, work_folder(user))

    @property
    def place(self) -> Place:
        return Place(self.folder, self.reach)

    @property
    def folder(self) -> PurePath:
        return self.work / "builds" / self.site.tag

    def create(
        self,
        topology: Topology,
        places: NodePaths,
        copies: Mapping[str, Sequence[StackCopy]],
        java: str,
    ) -> None:
        """Lease the hosts, create the folders, copy and verify toolkit and stacks. `copies`: by host."""
        take_leases(self.hosts, self.site.tag.rpartition("/")[0], self.journal)
        self.make_folders(topology.nodes, places)
        self._provision(copies, java)

    def make_folders(self, nodes: Sequence[Node], places: NodePaths) -> None:
        """The build's folder on each host, the nodes' data folders, and the toolkit."""
        for host in self.hosts:
            self._make_dir(host, self.folder)
        for node in nodes:
            for path in places.data_of(node):
                self._make_dir(self.reach[node.name].host, PurePath(path))
        on_all(self.hosts, lambda _, target: channel(target).call(
            "put", str(self.folder / TOOLKIT), toolkit()))  # fmt: skip

    def destroy(self) -> Leftovers:
        """Stop processes, fetch logs, remove folders. The result lists hosts that do not answer."""
        self.stop_and_fetch_logs()
        intended = self._intended_dirs()
        try_all(self.hosts, lambda host, target: self._remove_dirs(target, intended.get(host, [])))
        return self.leftovers()

    def stop_and_fetch_logs(self) -> None:
        """Stop the processes and fetch the logs of the hosts that answer."""
        stopped, silent = try_all(
            self.hosts,
            lambda _, target: channel(target).call(
                "act", "stop-tagged", [self.site.tag, GRACE_S], timeout_s=_STOP_TIMEOUT_S
            ),
        )
        for host, processes in stopped.items():
            for process in processes:
                self.journal.write(
                    "process-stopped", host=host, pid=process["pid"],
                    start_ticks=process["start_ticks"],
                )  # fmt: skip
        self._fetch_logs([host for host in self.hosts if host not in silent])

    def leftovers(self) -> Leftovers:
        """Processes, folders, ports and units on every host; and hosts that do not answer."""
        intended = self._intended_dirs()
        builds = self.journal.intents("build", self.site.tag)
        ports = [list(address) for intent in builds for address in intent.ports]
        found, silent = try_all(
            self.hosts,
            lambda host, target: leftovers_on(target, self.site.tag, intended.get(host, []), ports),
        )
        return Leftovers(
            processes=tuple(one for host in found for one in found[host][0]),
            directories=tuple(one for host in found for one in found[host][1]),
            ports=tuple(one for host in found for one in found[host][2]),
            units=tuple(one for host in found for one in found[host][3]),
            unreachable_hosts=tuple(f"host {host} (does not answer)" for host in silent),
        )

    def _make_dir(self, host: str, path: PurePath) -> None:
        fields = {"tag": self.site.tag, "host": host, "path": str(path)}
        self.journal.intend("make-dir", **fields)
        channel(self.hosts[host]).call("act", "make-dir", [str(path), self.site.tag])
        self.journal.write("dir-made", **fields)

    def _remove_dirs(self, target: Target, paths: Sequence[str]) -> None:
        # The build's own folder was made first, so it goes last.
        for path in reversed(paths):
            if channel(target).call("act", "remove-dir", [path, self.site.tag]):
                self.journal.write("dir-removed", tag=self.site.tag, host=target.host, path=path)
        for aside in self._intended_asides(target.host):
            channel(target).call("remove_tree", aside, str(self.work / "stacks"))
        channel(target).call("remove_tree", str(self.work / "builds" / ".ansible"), str(self.work))

    def _provision(self, copies: Mapping[str, Sequence[StackCopy]], java: str) -> None:
        lacking = {
            host: missing(wanted, _sums(self.hosts[host], wanted))
            for host, wanted in copies.items()
        }
        folder = Path(tempfile.mkdtemp(prefix="stacks-", dir=runtime_dir()))
        try:
            tars: dict[str, Path] = {}
            for copy in {c.stack.name: c for cs in lacking.values() for c in cs}.values():
                tars[copy.stack.name] = copy.write_tar(folder)
            of_host = {
                host: {
                    "stacks": [copy.to_vars(self.site.tag) for copy in wanted],
                    "missing": [
                        copy.to_vars(self.site.tag, tars[copy.stack.name]) for copy in lacking[host]
                    ],
                }
                for host, wanted in copies.items()
            }
            for host, given in of_host.items():
                for one in given["missing"]:
                    self.journal.intend(
                        "copy-stack", self.site.tag, host=host, path=one["home"], aside=one["aside"]
                    )
            self._play("provision", {"java": java, "whose": WHOSE}, of_host)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _fetch_logs(self, hosts: Sequence[str]) -> None:
        """Copy logs, if there are any, to the build's logs folder, where `local` writes them directly."""
        targets = {
            host: self.hosts[host]
            for host in hosts
            if channel(self.hosts[host]).call("files", str(self.folder / "logs"))
        }
        if not targets:
            return
        folder = Path(tempfile.mkdtemp(prefix="logs-", dir=runtime_dir()))
        try:
            variables = {"folder": str(self.folder), "into": str(folder)}
            self._play("collect", variables, {host: {} for host in targets})
            self.site.root.mkdir(parents=True, exist_ok=True)
            for packed in folder.glob("*.tar.gz"):
                _unpack(packed, self.site.root)
        except HostLostError:
            pass  # `leftovers` lists the host
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _play(
        self, playbook: str, variables: Mapping[str, Any], of_host: Mapping[str, Any]
    ) -> None:
        targets = {host: self.hosts[host] for host in of_host}
        play(
            playbook, targets, variables,
            tag=self.site.tag, work=str(self.work), of_host=of_host,
        )  # fmt: skip

    def _intended_dirs(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for intent in self.journal.intents("make-dir", self.site.tag):
            paths = found.setdefault(intent.host, [])
            if intent.path not in paths:
                paths.append(intent.path)
        return found

    def _intended_asides(self, host: str) -> list[str]:
        copies = self.journal.intents("copy-stack", self.site.tag)
        return [intent.aside for intent in copies if intent.host == host]


def _sums(target: Target, copies: Sequence[StackCopy]) -> dict[str, str | None]:
    """The checksum file of each home on the host; None where it is missing."""
    found: dict[str, str | None] = {}
    for copy in copies:
        try:
            read = channel(target).call("read", str(copy.home / SUMS), 0, 2**20)
            found[str(copy.home)] = read.decode()
        except FileNotFoundError:
            found[str(copy.home)] = None
    return found


def check_same_java(found: Mapping[str, Mapping[str, str]]) -> tuple[str, str]:
    """(home, version) of the Java that all hosts have. InputError if they differ."""
    first = next(iter(found.values()))
    for host, java in found.items():
        if java != first:
            raise InputError(
                f"Java {java['version']} in {java['home']}; another host has {first['version']} "
                f"in {first['home']}.",
                f"host {host!r}",
                "install the same JDK 17 on all hosts.",
            )
    return first["home"], first["version"]


def no_build(site: Site) -> StudyError:
    return StudyError(
        "the journal does not name its hosts.", f"build {site.tag}", "run `study reap`."
    )


def _unpack(packed: Path, to: Path) -> None:
    """Uses GNU tar: Debian 12's Python 3.11.2 lacks the safe extraction filter."""
    argv = ["tar", "--no-same-owner", "-xzf", str(packed), "-C", str(to)]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise StudyError(
            f"the logs of a host cannot be unpacked: {ended.stderr.strip()}.",
            str(to),
            "free space on that disk, then run the same command again.",
        )
