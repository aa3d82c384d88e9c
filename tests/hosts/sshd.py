"""A real SSH server on loopback, for tests as root."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from density_study.cluster.model.host import Target

SSHD = "/usr/sbin/sshd"


@contextmanager
def sshd(folder: Path, within: tuple[str, ...] = ()) -> Iterator[Target]:
    """A server, started by the command `within`, and its target. The paths of its keys are hard to write."""
    if not Path(SSHD).exists() or os.getuid() != 0:
        pytest.skip("needs openssh-server, as root")
    keys = folder / "my keys %h"
    keys.mkdir(mode=0o700, parents=True)
    Path("/run/sshd").mkdir(exist_ok=True)
    for name in ("host", "user"):
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(keys / name)]
        subprocess.run(make, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shutil.copy(
        keys / "user.pub", folder / "authorized"
    )  # sshd's own configuration takes no spaces
    shutil.copy(keys / "host", folder / "host_key")
    config = folder / "sshd_config"
    config.write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host_key\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nPermitRootLogin prohibit-password\n"
    )
    public = " ".join((keys / "host.pub").read_text().split()[:2])
    (keys / "known_hosts").write_text(f"[127.0.0.1]:{port} {public}\n")
    argv = [*within, SSHD, "-D", "-f", str(config)]
    server = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
    try:
        _await(port)
        identity = str(keys / "user")
        yield Target("h1", "127.0.0.1", port, "root", str(keys / "known_hosts"), identity)
    finally:
        server.kill()
        server.wait()


def _await(port: int) -> None:
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
