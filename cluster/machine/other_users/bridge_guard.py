"""Closes a bridge to the other users of this machine, by Linux's nftables, as root.

Packets from containers to each other pass, and those of this user. Standard library only.
"""

from __future__ import annotations

import os
import subprocess
from functools import cache

from density_study.cluster.machine.network_cut import ABSENT
from density_study.cluster.machine.privileged.cut_network import NFT
from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.tags import short_hash


def table(tag: str) -> str:
    """Name of the build's own table of rules."""
    return f"density_study_guard_{short_hash(tag)}"


def rules(name: str, bridge: str, uid: int) -> str:
    """nftables' script. Its hooks come before those of the machine's own firewall, which stays as it is."""
    return (
        f"table inet {name} {{\n"
        "  chain output {\n"
        "    type filter hook output priority -300; policy accept;\n"
        f'    oifname "{bridge}" meta skuid != {uid} reject\n'
        "  }\n"
        "  chain forward {\n"
        "    type filter hook forward priority -300; policy accept;\n"
        f'    oifname "{bridge}" iifname != "{bridge}" drop\n'
        "  }\n"
        "}\n"
    )


@cache
def obstacle() -> str:
    """Why bridges cannot be closed here; empty if they can."""
    # whether the kernel knows everything in the rules: checked, not applied
    return _nft("--check", "--file", "-", script=rules(table(""), "lo", 0)).stderr.strip()


def close(tag: str, bridge: str) -> None:
    done = _nft("--file", "-", script=rules(table(tag), bridge, os.geteuid()))
    if done.returncode:
        raise StudyError(
            f"the bridge could not be closed to other users: {done.stderr.strip()[:200]}.",
            f"{NFT} --file -",
            "load nftables into the kernel: `modprobe nf_tables nft_ct`, as root.",
        )


def is_closed(tag: str) -> bool:
    """StudyError if it cannot be known."""
    done = _nft("list", "table", "inet", table(tag))
    if done.returncode and ABSENT not in done.stderr:
        raise StudyError(
            f"whether the bridge's rules are still there is unknown: {done.stderr.strip()[:200]}.",
            f"table {table(tag)} of nftables",
            f"install nftables, or run: nft delete table inet {table(tag)}; then run `study reap`.",
        )
    return done.returncode == 0


def remove(tag: str) -> None:
    _nft("delete", "table", "inet", table(tag))


def _nft(*words: str, script: str = "") -> subprocess.CompletedProcess[str]:
    """Containers need root anyway. If nft cannot be started, its standard error says so."""
    try:
        return subprocess.run(
            [NFT, *words],
            env={"LC_ALL": "C"},
            input=script,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        return subprocess.CompletedProcess(words, 127, "", f"{NFT}: {error.strerror}")
