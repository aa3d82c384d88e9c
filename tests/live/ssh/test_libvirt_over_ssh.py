"""A real libvirtd, reached by virsh over a real SSH server, both in a network namespace."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.cluster.providers.ssh.options import IDENTITY
from tests.hosts.sshd import sshd
from tests.live.support.libvirtd import libvirtd
from tests.support.namespace import inside

pytestmark = [pytest.mark.vm, pytest.mark.timeout(120)]


def test_a_libvirt_is_known_by_the_studys_file_alone(
    runtime: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.getuid() != 0:
        pytest.skip("only root starts libvirtd in a namespace")
    with libvirtd(tmp_path / "lv", "ssh") as daemon:
        listed = subprocess.run(
            ["ip", "netns", "pids", daemon.namespace], capture_output=True, text=True, check=True
        )
        within = ("nsenter", f"--target={listed.stdout.split()[0]}", "--net", "--mount")
        with inside(daemon.namespace), sshd(tmp_path, within) as target:
            monkeypatch.setenv(IDENTITY, target.identity)
            place, known = f"root@{target.address}:{target.port}", Path(target.known_hosts)
            virsh = Virsh(f"qemu+ssh://{place}/system?known_hosts={quote(str(known))}")
            assert virsh.names("net-list") == []
            known.write_text("")
            with pytest.raises(StudyError, match="Host key verification failed"):
                virsh.names("net-list")
