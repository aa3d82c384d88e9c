"""SSH keys of one build: the controller's, and a host key for each guest, known before it first boots.

They are in the build's folder, mode 0600, and are removed at tear-down. No record contains them.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.ssh.options import find_program
from density_study.cluster.state import atomic
from density_study.cluster.state.journal import Journal

FOLDER = "ssh"


@dataclass(frozen=True)
class Keys:
    folder: Path

    @property
    def identity(self) -> Path:
        return self.folder / "identity"

    @property
    def known_hosts(self) -> Path:
        return self.folder / "known_hosts"

    def host_key(self, node: str) -> Path:
        return self.folder / f"host-{node}"


def keys_of(site: Site) -> Keys:
    return Keys(site.root.absolute() / FOLDER)


def make_keys(site: Site, topology: Topology, journal: Journal) -> Keys:
    """New keys, and a known_hosts that trusts nothing else."""
    keys = keys_of(site)
    journal.intend("make-keys", site.tag, path=str(keys.folder))
    keys.folder.mkdir(parents=True, mode=0o700)
    _make(keys.identity)
    lines = []
    for node in topology.nodes:
        _make(keys.host_key(node.name))
        lines.append(f"{node.address} {public_of(keys.host_key(node.name))}\n")
    atomic.write_text(keys.known_hosts, "".join(lines))
    return keys


def public_of(key: Path) -> str:
    return key.with_name(key.name + ".pub").read_text().strip()


def _make(path: Path) -> None:
    given = ("-q", "-t", "ed25519", "-N", "", "-C", "density-study", "-f", str(path))
    argv = [find_program("ssh-keygen"), *given]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, capture_output=True)
