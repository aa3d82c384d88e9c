"""Cuts this machine off from others for a time: `python -m ... TAG SECONDS SSH_PORT ADDRESS...`.

Packets from and to the addresses are dropped, as if the cable were unplugged; nobody gets an error. SSH
still works: it stands for a network of its own for management, and lets the controller see the host. Linux's
nftables does it, as root or by sudo. Standard library only: it runs on hosts.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Sequence

from density_study.cluster.machine.as_root import as_root
from density_study.cluster.machine.held import held
from density_study.cluster.model.errors import InputError, StudyError

NFT = "/usr/sbin/nft"


def table(tag: str) -> str:
    """Name of the build's own table of rules."""
    return f"density_study_{hashlib.sha256(tag.encode()).hexdigest()[:12]}"


def rules(name: str, ssh_port: int, addresses: Sequence[str]) -> str:
    """nftables' script. The hooks come before those of the machine's own firewall, which stays as it is."""
    peers = ", ".join(addresses)
    chains = "".join(
        f"  chain {hook} {{\n"
        f"    type filter hook {hook} priority -300; policy accept;\n"
        f"    tcp {ssh} {ssh_port} accept\n"
        f"    ip {peer} {{ {peers} }} drop\n"
        "  }\n"
        for hook, ssh, peer in (("input", "dport", "saddr"), ("output", "sport", "daddr"))
    )
    return f"table inet {name} {{\n{chains}}}\n"


def check_nft() -> None:
    """InputError if this user may not change the machine's rules. Changes nothing."""
    done = _nft("-f", "-", script="# nothing\n")
    if done.returncode:
        raise InputError(
            f"the network of this host cannot be cut: {done.stderr.strip()[:200]}.",
            f"{NFT} -f -",
            "install nftables, and allow the user to run it by sudo (docs/providers.md: faults).",
        )


def cut(tag: str, ssh_port: int, addresses: Sequence[str]) -> None:
    done = _nft("-f", "-", script=rules(table(tag), ssh_port, addresses))
    if done.returncode:
        raise StudyError(
            f"the network could not be cut: {done.stderr.strip()[:200]}.",
            f"{NFT} -f -",
            "see the kernel's support of nftables on that host.",
        )


def is_cut(tag: str) -> bool:
    return _nft("list", "table", "inet", table(tag)).returncode == 0


def mend(tag: str) -> bool:
    """Remove the build's rules; whether there were any."""
    return _nft("delete", "table", "inet", table(tag)).returncode == 0


def _nft(*words: str, script: str = "") -> subprocess.CompletedProcess[str]:
    return as_root(NFT, *words, stdin=script)


if __name__ == "__main__":
    tag_, seconds_, port_, *addresses_ = sys.argv[1:]
    held(float(seconds_), lambda: cut(tag_, int(port_), addresses_), lambda: mend(tag_))
