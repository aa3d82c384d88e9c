"""The lab: hosts on a bridge of a network namespace of their own. Nothing of it is reachable outside.

python -m tests.hosts.lab FOLDER NAME... within new namespaces (`tests.hosts.fixture` starts it so). Takes
commands on standard input: `kill h1`, `boot h1`, `cut h1`, `mend h1`; ends with it, and all hosts too.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.hosts.host import run

CONTROLLER = "10.77.0.1"


def address_of(index: int) -> str:
    return f"10.77.0.{10 + index}"


class Lab:
    def __init__(self, folder: Path, names: list[str]) -> None:
        self.folder = folder
        self.addresses = {name: address_of(index) for index, name in enumerate(names)}
        self.hosts: dict[str, subprocess.Popen[bytes]] = {}
        run("mount", "--make-rprivate", "/")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "br0", "type", "bridge")
        run("ip", "addr", "add", f"{CONTROLLER}/24", "dev", "br0")
        run("ip", "link", "set", "br0", "up")

    def boot(self, name: str) -> None:
        """A host of that name, with what its disk already holds."""
        folder, address = self.folder / name, self.addresses[name]
        with (folder / "console").open("ab") as console:
            self.hosts[name] = subprocess.Popen(
                [
                    *("unshare", "--net", "--mount", "--pid", "--uts", "--fork", "--kill-child"),
                    *(sys.executable, "-m", "tests.hosts.host", name, address, str(folder)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
            )
        net = f"/proc/{self._first_process(name)}/ns/net"
        run("ip", "link", "add", f"v-{name}", "type", "veth", "peer", "name", "eth0", "netns", net)
        run("ip", "link", "set", f"v-{name}", "master", "br0", "up")
        # a host comes back with the card it had: its neighbours still have its MAC address in mind
        mac = ":".join(f"{int(part):02x}" for part in f"2.0.{address}".split("."))
        for command in (
            f"link set eth0 address {mac}",
            f"addr add {address}/24 dev eth0",
            "link set lo up",
            "link set eth0 up",
            f"route add default via {CONTROLLER}",
        ):
            run("nsenter", f"--net={net}", "ip", *command.split())

    def kill(self, name: str) -> None:
        """Power off: every process of the host ends at once, its network is gone."""
        self.hosts[name].kill()
        self.hosts[name].wait()
        # the kernel takes a cable away some time after its namespace; it may be booted before
        gone = ["ip", "link", "delete", f"v-{name}"]
        subprocess.run(gone, stderr=subprocess.DEVNULL, check=False)

    def cut(self, name: str) -> None:
        """The cable is out; the host runs on."""
        run("ip", "link", "set", f"v-{name}", "down")

    def mend(self, name: str) -> None:
        run("ip", "link", "set", f"v-{name}", "up")

    def _first_process(self, name: str) -> int:
        """unshare's child: in the new namespaces as soon as it is there."""
        parent = self.hosts[name].pid
        children = Path(f"/proc/{parent}/task/{parent}/children")
        while not (found := children.read_text().split()):
            if self.hosts[name].poll() is not None:
                raise RuntimeError(f"{name} ended: {(self.folder / name / 'console').read_text()}")
        return int(found[0])


def main() -> None:
    lab = Lab(Path(sys.argv[1]), sys.argv[2:])
    for name in lab.addresses:
        lab.boot(name)
    print("up", flush=True)
    for line in sys.stdin:
        verb, name = line.split()
        {"kill": lab.kill, "boot": lab.boot, "cut": lab.cut, "mend": lab.mend}[verb](name)
        print("done", flush=True)


if __name__ == "__main__":
    main()
