"""A study's own known_hosts: the entries of its hosts only. Unknown host keys are rejected, never added."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from cluster.model.errors import InputError
from cluster.state import atomic


def write_known_hosts(source: Path, addresses: Sequence[tuple[str, int]], to: Path) -> None:
    """Copy to `to` what `source` holds for each (address, port). InputError names a host it lacks."""
    lines: list[str] = []
    for address, port in addresses:
        entry = address if port == 22 else f"[{address}]:{port}"
        found = _entries(source, entry)
        if not found:
            raise InputError(
                f"it has no host key for {entry}.",
                str(source),
                f"get the key by a way you trust, and add it: ssh-keyscan -p {port} {address}, "
                "its fingerprint compared with the host's own.",
            )
        lines += found
    atomic.write_text(to, "".join(f"{line}\n" for line in lines), mode=0o600)


def _entries(source: Path, entry: str) -> list[str]:
    """Found by ssh-keygen, which handles hashed names and wildcards."""
    program = shutil.which("ssh-keygen")
    if program is None:
        raise InputError(
            "`ssh-keygen` is not on PATH.",
            "controller",
            "install it (Debian: apt install openssh-client).",
        )
    if not source.is_file():
        raise InputError(
            "the file does not exist.",
            str(source),
            "set ssh.known_hosts to the file that holds your hosts' keys.",
        )
    argv = (program, "-F", entry, "-f", str(source))
    listed = subprocess.run(argv, capture_output=True, text=True, check=False).stdout
    return [line for line in listed.splitlines() if line and not line.startswith("#")]
