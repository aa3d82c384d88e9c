"""`SshBuild`: makes a build on hosts over SSH, fetches its logs, removes it and proves it gone.

Everything works from the journal (`of`): the process that made the build is not needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import PurePath
from statistics import mode
from typing import Any

from density_study.cluster.machine.processes import KILLED_WITHIN_S
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import (
    HostLostError,
    InputError,
    StudyError,
    do_all,
    each_of,
)
from density_study.cluster.model.host import Target
from density_study.cluster.model.store import MachineProgram
from density_study.cluster.model.transport import ProcessId
from density_study.cluster.providers.provider import GRACE_S, Leftovers
from density_study.cluster.providers.ssh.channel import channel, look_on_all, on_all, try_all
from density_study.cluster.providers.ssh.fetching import fetch_folder
from density_study.cluster.providers.ssh.host_leases import take_leases
from density_study.cluster.providers.ssh.provisioning import provide_stacks
from density_study.cluster.providers.ssh.stack_copies import StackCopy
from density_study.cluster.providers.ssh.toolkit import TOOLKIT, toolkit
from density_study.cluster.providers.ssh.transport import Place
from density_study.cluster.state.events import HostReach, NodeReach
from density_study.cluster.state.journal import Journal

_STOP_TIMEOUT_S = KILLED_WITHIN_S + 90.0


@dataclass(frozen=True)
class SshBuild:
    """`reach`: a node's name -> SSH server of its machine. `work`: the program's folder on each host."""

    site: Site
    journal: Journal
    reach: Mapping[str, Target]
    work: PurePath

    @classmethod
    def of(
        cls,
        site: Site,
        journal: Journal,
        kind: type[NodeReach] | type[HostReach] = NodeReach,
        work: PurePath | None = None,
    ) -> SshBuild | None:
        """The build on the nodes, or on the hosts of its guests, by its journal; None if nothing was made.

        `work` is by default the folder of the SSH user on a host.
        """
        reach = {e.node: e.target for e in journal.events(kind) if e.tag == site.tag}
        if not reach:
            return None
        return cls(site, journal, reach, work or next(iter(reach.values())).work)

    @classmethod
    def known(cls, site: Site, journal: Journal, work: PurePath | None = None) -> SshBuild:
        """The build on the nodes. StudyError if the journal does not name it."""
        build = cls.of(site, journal, NodeReach, work)
        if build is None:
            raise StudyError(
                "the journal does not name its hosts.", f"build {site.tag}", "run `study reap`."
            )
        return build

    @property
    def hosts(self) -> dict[str, Target]:
        return {target.host: target for target in self.reach.values()}

    @property
    def place(self) -> Place:
        return Place(self.folder, self.reach)

    @property
    def folder(self) -> PurePath:
        return self.work / "builds" / self.site.tag

    def create(
        self, data: Iterable[tuple[str, PurePath]], copies: Mapping[str, Sequence[StackCopy]]
    ) -> None:
        """Lease the hosts, create the folders, copy and verify toolkit and stacks. `copies`: by host."""
        take_leases(self.hosts, self.site.tag.rpartition("/")[0], self.journal)
        self.make_folders(data)
        provide_stacks(self.hosts, self.work, copies, self.site.tag, self.journal)

    def make_folders(self, data: Iterable[tuple[str, PurePath]] = ()) -> None:
        """The build's folder on each host, the toolkit, and `data`: (node, folder) of what nodes write."""
        on_all(self.hosts, self._own_folder)
        folders = {host: [self.folder] for host in self.hosts}
        for node, path in data:
            folders[self.reach[node].host].append(path)
        on_all(folders, lambda host, paths: each_of(paths, partial(self.make_dir, host)))
        at = str(self.folder / TOOLKIT)
        on_all(self.hosts, lambda _, target: channel(target).put(at, toolkit()))

    def set_network(self, settings: Mapping[str, Any]) -> None:
        """Change the interface of each host that carries its address. What it was is in the journal first."""

        def change(host: str, target: Target) -> None:
            ask = channel(target).act
            former = ask("network-state", ask("network-device", target.address), settings)
            self.journal.intend("set-network", self.site.tag, host=host, former=former)
            ask("set-network", former["device"], settings)
            # a connection that stands has agreed on the former length of packets
            channel(target).close()

        on_all(self.hosts, change)

    def destroy(self, remove: Callable[[str, Target], object] | None = None) -> None:
        """Stop processes, fetch logs, `remove` what else was made on a host, remove folders. What fails on
        one host keeps nothing else from being removed. `leftovers` lists hosts that do not answer."""
        do_all(
            lambda: try_all(self._changed_networks, self._restore_network),
            self.stop_and_fetch_logs,
            lambda: try_all(self.hosts, remove) if remove else None,
            lambda: try_all(self._cut_hosts, self._mend),
            lambda: try_all(self.hosts, self._remove_dirs),
        )

    def stop_and_fetch_logs(self) -> None:
        """Stop the processes and fetch the logs of the hosts that answer."""
        request = ("act", "stop-tagged", [self.site.tag, GRACE_S])
        stopped = try_all(
            self.hosts, lambda _, target: channel(target).call(*request, timeout_s=_STOP_TIMEOUT_S)
        )
        for host, processes in stopped.items():
            for process in processes:
                self.journal.write(
                    "process-stopped", host=host, pid=process["pid"],
                    start_ticks=process["start_ticks"],
                )  # fmt: skip
        self._fetch_logs(stopped)

    def leftovers(self, find: Callable[[str, Target], Iterable[str]] | None = None) -> Leftovers:
        """Processes, folders, ports and units on every host, and what else `find` finds there; and hosts that
        do not answer."""
        return look_on_all(
            self.hosts, lambda *host: chain(self._leftovers_on(*host), find(*host) if find else ())
        )

    def _leftovers_on(self, host: str, target: Target) -> Leftovers:
        ask, tag = channel(target).act, self.site.tag
        builds = self.journal.intents("build", tag)
        ports = [
            list(port) for build in builds for port in build.ports if port[0] == target.address
        ]
        return (
            *(f"{ProcessId(**found)} on host {host}" for found in ask("tagged", tag)),
            *(f"{path} on host {host}" for path in ask("dirs-there", self._intended_dirs(host))),
            *(f"port {port} on {address}" for address, port in ask("listening", ports, tag)),
            *(f"unit {unit} on host {host}" for unit in channel(target).call("units", tag)),
            *(
                (f"cut network of host {host}",)
                if host in self._cut_hosts and ask("is-cut", tag)
                else ()
            ),
            *(
                f"changed {what} of {former['device']} on host {host}"
                for former in self._former_networks(host)
                for what in ask("network-changed", former)
            ),
        )

    @property
    def _changed_networks(self) -> dict[str, Target]:
        return {host: target for host, target in self.hosts.items() if self._former_networks(host)}

    def _former_networks(self, host: str) -> list[Mapping[str, Any]]:
        """The first one: a later intent may have seen what the build has changed."""
        intents = self.journal.intents("set-network", self.site.tag)
        return [intent.former for intent in intents if intent.host == host][:1]

    def _restore_network(self, host: str, target: Target) -> None:
        for former in self._former_networks(host):
            channel(target).act("restore-network", former)

    @property
    def _cut_hosts(self) -> dict[str, Target]:
        """Those that a fault of the build cut off; it may have been killed before it mended them."""
        cut = {intent.host for intent in self.journal.intents("cut", self.site.tag)}
        return {host: target for host, target in self.hosts.items() if host in cut}

    def _mend(self, host: str, target: Target) -> None:
        channel(target).act("mend", self.site.tag)

    def make_dir(self, host: str, path: PurePath) -> None:
        fields = {"tag": self.site.tag, "host": host, "path": str(path)}
        self.journal.intend("make-dir", **fields)
        channel(self.hosts[host]).act("make-dir", str(path), self.site.tag)
        self.journal.write("dir-made", **fields)

    def remove_dir(self, host: str, path: str) -> None:
        """If it was made."""
        tag = self.site.tag
        if channel(self.hosts[host]).act("remove-dir", path, tag):
            self.journal.write("dir-removed", tag=tag, host=host, path=path)

    def _remove_dirs(self, host: str, target: Target) -> None:
        tag, there = self.site.tag, channel(target)
        stacks = str(self.work / "stacks")
        copies = [copy for copy in self.journal.intents("copy-stack", tag) if copy.host == host]
        do_all(
            # The build's own folder was made first, so it goes last.
            *(partial(self.remove_dir, host, path) for path in reversed(self._intended_dirs(host))),
            *(partial(there.call, "remove_tree", copy.aside, stacks) for copy in copies),
        )

    def _own_folder(self, host: str, target: Target) -> None:
        """InputError if another user of the host could write to the program's folder there."""
        channel(target).call("own_folder", str(self.work))

    def _fetch_logs(self, hosts: Iterable[str]) -> None:
        """Copy logs, if there are any, to the build's logs folder, where `local` writes them directly. A host
        has logs of its own nodes only. `leftovers` lists hosts that do not answer."""
        there, here = self.folder / "logs", self.site.root / "logs"

        def fetched(host: str, target: Target) -> None:
            nodes = {node for node, its in self.reach.items() if its.host == host}
            try:
                fetch_folder(target, there, here, lambda name: name.partition("/")[0] in nodes)
            except HostLostError:
                raise
            except (StudyError, FileNotFoundError) as error:  # must not prevent the removal
                self.journal.write("logs-lost", tag=self.site.tag, host=host, message=str(error))

        try_all({host: self.hosts[host] for host in hosts}, fetched)

    def _intended_dirs(self, host: str) -> list[str]:
        """The intended directories in the order in which they were made."""
        intents = self.journal.intents("make-dir", self.site.tag)
        return list(dict.fromkeys(intent.path for intent in intents if intent.host == host))


def same_java(targets: Mapping[str, Target], feature: int | None = None) -> tuple[str, str]:
    """(home, version) of the Java that all hosts have, or their Java of this feature release. InputError
    names those that have another than most."""
    found = on_all(targets, lambda _, target: channel(target).act("java", feature))
    words = {host: f"Java {java['version']} in {java['home']}" for host, java in found.items()}
    java = found[_usual(words, "install the same JDK on all hosts.")]
    return java["home"], java["version"]


def same_program(targets: Mapping[str, Target], wanted: MachineProgram) -> Mapping[str, str]:
    """The server that all hosts have, as `find_program` describes it. InputError names those that have
    another than most."""
    asked = [list(wanted.names), wanted.package, wanted.says, wanted.since]
    found = on_all(targets, lambda _, target: channel(target).act("find-program", *asked))
    words = {
        host: f"{own['program']} is {own['name']} {own['version']}, SHA-256 {own['sha256'][:12]}"
        for host, own in found.items()
    }
    program: Mapping[str, str] = found[_usual(words, "install the same package on all hosts.")]
    return program


def _usual(words: Mapping[str, str], remedy: str) -> str:
    """A host that has what most have. InputError names the others."""
    usual = mode(words.values())

    def check(host: str) -> None:
        if words[host] != usual:
            raise InputError(f"{words[host]}; on other hosts: {usual}.", f"host {host!r}", remedy)

    each_of(words, check)
    return next(iter(words))
