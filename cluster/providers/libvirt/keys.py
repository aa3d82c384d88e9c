"""SSH keys of one build: the controller's, and a host key for each guest, known before it first boots.

They lie in the build's folder, mode 0600, and go at tear-down; nothing of them enters a record.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cluster.model.cluster import Site
from cluster.model.errors import InputError
from cluster.model.topology import Topology
from cluster.state import atomic
from cluster.state.journal import Journal

FOLDER = "ssh"


@dataclass(frozen=True)
class Keys:
    folder: Path

    @property
    def identity(self) -> Path:
        return self.folder / "identity"

    @property
    def authorized(self) -> str:
        return _public(self.identity)

    @property
    def known_hosts(self) -> Path:
        return self.folder / "known_hosts"

    def host_key(self, node: str) -> Path:
        return self.folder / f"host-{node}"


def keys_of(site: Site) -> Keys:
    return Keys(site.root.absolute() / FOLDER)


def make_keys(site: Site, topology: Topology, journal: Journal) -> Keys:
    """New ones, and a known_hosts that believes in nothing else."""
    keys = keys_of(site)
    journal.intend("make-keys", site.tag, path=str(keys.folder))
    keys.folder.mkdir(parents=True, mode=0o700)
    _make(keys.identity)
    lines = []
    for node in topology.nodes:
        _make(keys.host_key(node.name))
        lines.append(f"{node.address} {_public(keys.host_key(node.name))}\n")
    atomic.write_text(keys.known_hosts, "".join(lines))
    return keys


def public_of(key: Path) -> str:
    return _public(key)


def remove_keys(site: Site) -> None:
    shutil.rmtree(keys_of(site).folder, ignore_errors=True)


def _make(path: Path) -> None:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise InputError(
            "there is no `ssh-keygen` on PATH.", "controller", "install OpenSSH's client."
        )
    given = ("-q", "-t", "ed25519", "-N", "", "-C", "density-study", "-f", str(path))
    subprocess.run([program, *given], check=True, stdin=subprocess.DEVNULL, capture_output=True)


def _public(key: Path) -> str:
    return key.with_name(key.name + ".pub").read_text().strip()
