"""Closes a bridge to the other users of this machine, by Linux's nftables, as root.

Packets from containers to each other pass, and those of this user. Standard library only.
"""

from __future__ import annotations

import os
from functools import cache

from density_study.cluster.machine.as_root import as_root
from density_study.cluster.machine.network_cut import NFT, check_nft
from density_study.cluster.model.errors import InputError, StudyError
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
    try:
        check_nft()
    except (InputError, OSError) as error:
        return str(error)
    # whether the kernel knows everything in the rules: checked, not applied
    return as_root(NFT, "-c", "-f", "-", stdin=rules(table(""), "lo", 0)).stderr.strip()


def close(tag: str, bridge: str) -> None:
    done = as_root(NFT, "-f", "-", stdin=rules(table(tag), bridge, os.geteuid()))
    if done.returncode:
        raise StudyError(
            f"the bridge could not be closed to other users: {done.stderr.strip()[:200]}.",
            f"{NFT} -f -",
            "see the kernel's support of nftables.",
        )


def is_closed(tag: str) -> bool:
    return as_root(NFT, "list", "table", "inet", table(tag)).returncode == 0


def remove(tag: str) -> None:
    as_root(NFT, "delete", "table", "inet", table(tag))
