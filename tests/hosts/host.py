"""The first process of one host: its own mounts and users, then sshd, then reaping until it is
killed.

Started by tests.hosts.lab within the host's namespaces: python -m tests.hosts.host NAME ADDRESS
FOLDER.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

USER, UID = "study", 61500
BOUND = {"disk": "/mnt", "home": "/home", "var-tmp": "/var/tmp", "tmp": "/tmp"}
"""In this order: the folders themselves may lie below /tmp."""
LOCAL_LIB = "local-lib"
"""Its files are added to those of this machine's /usr/local/lib."""
SSHD = "/usr/sbin/sshd"


def main(name: str, address: str, folder: Path) -> None:
    socket.sethostname(name)
    _mount_own(folder)
    _wait_for_address(address)
    subprocess.Popen([SSHD, "-D", "-e"], stdin=subprocess.DEVNULL)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while True:  # the first process of a pid namespace inherits every orphan
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            time.sleep(0.2)


def _mount_own(folder: Path) -> None:
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "proc", "proc", "/proc")
    run("mount", "-t", "tmpfs", "run", "/run")
    # of the host's own network; cgroups lie below and stay
    Path("/run/cgroup").mkdir()
    run("mount", "--rbind", "/sys/fs/cgroup", "/run/cgroup")
    run("mount", "-t", "sysfs", "sysfs", "/sys")
    run("mount", "--rbind", "/run/cgroup", "/sys/fs/cgroup")
    Path("/run/sshd").mkdir(mode=0o755)
    etc = folder / "etc"
    for part in etc.iterdir():
        run("mount", "--bind", str(part), f"/etc/{part.name}")
    programs = f"lowerdir={folder / LOCAL_LIB}:/usr/local/lib"
    run("mount", "-t", "overlay", "programs", "-o", programs, "/usr/local/lib")
    for name, place in BOUND.items():
        run("mount", "--bind", str(folder / name), place)


def _wait_for_address(address: str) -> None:
    deadline = time.monotonic() + 10
    while address not in run("ip", "-4", "addr"):
        if time.monotonic() > deadline:
            raise TimeoutError(f"no {address}")
        time.sleep(0.02)


def run(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
