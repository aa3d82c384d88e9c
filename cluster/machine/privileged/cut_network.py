#!/usr/bin/python3 -IS
"""cut-network cut TABLE SSH_PORT ADDRESS... | mend TABLE | is-cut TABLE | check

Drops packets from and to IPv4 addresses, except SSH at one port, by a table of rules of its own. The
machine's other rules stay as they are.
"""

from __future__ import annotations

import ipaddress
import re
import subprocess
import sys
from collections.abc import Sequence

NFT = "/usr/sbin/nft"
TABLE = r"density_study_[0-9a-f]{12}"
MOST_ADDRESSES = 1000


def rules(table: str, ssh_port: str, addresses: Sequence[str]) -> str:
    """nftables' script. The hooks come before those of the machine's own firewall."""
    peers = ", ".join(addresses)
    chains = "".join(
        f"  chain {hook} {{\n"
        f"    type filter hook {hook} priority -300; policy accept;\n"
        f"    tcp {ssh} {ssh_port} accept\n"
        f"    ip {peer} {{ {peers} }} drop\n"
        "  }\n"
        for hook, ssh, peer in (("input", "dport", "saddr"), ("output", "sport", "daddr"))
    )
    return f"table inet {table} {{\n{chains}}}\n"


def command(words: Sequence[str]) -> tuple[list[str], str] | None:
    """(arguments of nft, its script); None if the words are none of the forms above."""
    verb, *given = words or [""]
    if verb == "check" and not given:
        return ["--check", "--file", "-"], rules("density_study_000000000000", "22", ["192.0.2.1"])
    if not given or not re.fullmatch(TABLE, given[0]):
        return None
    table, *ends = given
    if verb in ("mend", "is-cut") and not ends:
        return ["delete" if verb == "mend" else "list", "table", "inet", table], ""
    if verb == "cut" and 2 <= len(ends) <= MOST_ADDRESSES:
        port, *addresses = ends
        if is_port(port) and all(map(is_address, addresses)):
            return ["--file", "-"], rules(table, port, addresses)
    return None


def is_port(word: str) -> bool:
    return re.fullmatch(r"[1-9][0-9]{0,4}", word) is not None and int(word) < 65536


def is_address(word: str) -> bool:
    try:
        return str(ipaddress.IPv4Address(word)) == word
    except ValueError:
        return False


def main() -> None:
    found = command(sys.argv[1:])
    if found is None:
        sys.exit(
            "usage: cut-network cut TABLE SSH_PORT ADDRESS... | mend TABLE | is-cut TABLE | check"
        )
    words, script = found
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            [NFT, *words],
            env=environment,
            input=script.encode(),
            stdout=subprocess.DEVNULL,
            check=False,
        )
    except OSError as error:
        sys.exit(f"{NFT}: {error.strerror}")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
