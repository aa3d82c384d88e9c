"""Stacks on hosts: copied where they are missing, verified at every build, archived for the host's Java."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from density_study.cluster.model.host import Target
from density_study.cluster.providers.ssh.channel import channel, on_all
from density_study.cluster.providers.ssh.host_stacks import SENT, SUMS
from density_study.cluster.providers.ssh.stack_copies import README, StackCopy
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.runtime import runtime_dir
from density_study.cluster.state.scratch import OWN, scratch

_TIMEOUT_S = 900.0


def provide_stacks(
    hosts: Mapping[str, Target],
    work: PurePath,
    copies: Mapping[str, Sequence[StackCopy]],
    tag: str,
    journal: Journal,
) -> None:
    """`copies`: what each host needs. `work`: the program's folder there."""
    missing = {
        host: [copy for copy in wanted if not _is_there(hosts[host], copy)]
        for host, wanted in copies.items()
    }
    with scratch(runtime_dir(), OWN) as folder:
        lacking = {copy.stack: copy for wanted in missing.values() for copy in wanted}
        tars = {stack: copy.write_tar(folder) for stack, copy in lacking.items()}

        def provide(host: str, target: Target) -> None:
            channel(target).put(str(work / "README"), README.encode())
            for copy in missing.get(host, ()):
                where = {"host": host, "path": str(copy.home), "aside": str(copy.aside(tag))}
                journal.intend("copy-stack", tag, **where)
                _send(target, copy, copy.aside(tag), tars[copy.stack])
            for copy in copies.get(host, ()):
                _prepare(target, copy, tag)

        on_all(hosts, provide)


def _is_there(target: Target, copy: StackCopy) -> bool:
    """Whether the host has the stack, with the same checksums."""
    try:
        return channel(target).read(str(copy.home / SUMS)) == copy.sums.encode()
    except FileNotFoundError:
        return False


def _send(target: Target, copy: StackCopy, aside: PurePath, tar: Path) -> None:
    there = channel(target)
    there.call("remove_tree", str(aside), str(aside.parent))  # left by a copy that was cut short
    there.act("make-folder", str(aside))
    there.send(tar, str(aside / SENT))
    there.call("install_stack", str(aside), str(copy.home), timeout_s=_TIMEOUT_S)


def _prepare(target: Target, copy: StackCopy, tag: str) -> None:
    there, home = channel(target), str(copy.home)
    there.call("verify_stack", home, timeout_s=_TIMEOUT_S)
    if copy.archive:
        archiving = (tag, home, copy.java, copy.archive, copy.jars)
        there.call("archive_classes", *archiving, timeout_s=_TIMEOUT_S)
