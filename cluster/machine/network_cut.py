"""Cuts this machine off from others for a time: `python -m ... TAG SECONDS SSH_PORT ADDRESS...`.

Packets from and to the addresses are dropped, as if the cable were unplugged; nobody gets an error. SSH
still works: it stands for a network of its own for management, and lets the controller see the host. Linux's
nftables does it, by the privileged program cut-network. Standard library only: it runs on hosts.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Sequence

from density_study.cluster.machine.as_root import as_root, may_not
from density_study.cluster.machine.held import held
from density_study.cluster.model.errors import InputError, StudyError

PROGRAM = "cut-network"
ABSENT = "Error: No such file or directory"
"""What nft prints of a table that is not there."""


def table(tag: str) -> str:
    """Name of the build's own table of rules."""
    return f"density_study_{hashlib.sha256(tag.encode()).hexdigest()[:12]}"


def check_nft() -> None:
    """InputError if this user may not change the machine's rules. Changes nothing."""
    if why := may_not(PROGRAM, "check") or _said(as_root(PROGRAM, "check")):
        raise InputError(
            f"the network of this host cannot be cut: {why}.",
            PROGRAM,
            "install nftables on the host and, unless the user is root, run there what "
            "`study sudo-rules --cut` prints.",
        )


def cut(tag: str, ssh_port: int, addresses: Sequence[str]) -> None:
    if why := _said(as_root(PROGRAM, "cut", table(tag), str(ssh_port), *addresses)):
        raise StudyError(
            f"the network could not be cut: {why}.",
            PROGRAM,
            "load nftables into that host's kernel: `modprobe nf_tables nft_ct`, as root.",
        )


def is_cut(tag: str) -> bool:
    """StudyError if it cannot be known."""
    done = as_root(PROGRAM, "is-cut", table(tag))
    if done.returncode and ABSENT not in done.stderr:
        raise StudyError(
            f"whether the network is still cut is unknown: {_said(done)}.",
            PROGRAM,
            f"as root on that host: nft delete table inet {table(tag)}; then run `study reap`.",
        )
    return done.returncode == 0


def mend(tag: str) -> bool:
    """Remove the build's rules; whether there were any."""
    return as_root(PROGRAM, "mend", table(tag)).returncode == 0


def _said(done: subprocess.CompletedProcess[str]) -> str:
    """Why it failed; empty if it did not."""
    return (done.stderr.strip()[:200] or "no reason given") if done.returncode else ""


if __name__ == "__main__":
    tag_, seconds_, port_, *addresses_ = sys.argv[1:]
    held(float(seconds_), lambda: cut(tag_, int(port_), addresses_), lambda: mend(tag_))
