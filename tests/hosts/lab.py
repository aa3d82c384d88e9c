"""The lab: hosts on a bridge in their own network namespace, unreachable from outside.

python -m tests.hosts.lab FOLDER NAME... within new namespaces (`tests.hosts.fixture` starts it so).
Reads commands from standard input: `kill h1`, `boot h1`, `cut h1`, `mend h1`; at its end, all hosts
end too.
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
        """Boots a host of that name, with its existing disk."""
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
        # a host returns with its old network card: its neighbours still cache its MAC address
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
        """Power off: every process of the host ends at once, and its network disappears."""
        self.hosts[name].kill()
        self.hosts[name].wait()
        # the kernel removes a veth pair some time after its namespace; the host may boot before
        delete = ["ip", "link", "delete", f"v-{name}"]
        subprocess.run(delete, stderr=subprocess.DEVNULL, check=False)

    def cut(self, name: str) -> None:
        """Unplugs the cable; the host keeps running."""
        run("ip", "link", "set", f"v-{name}", "down")

    def mend(self, name: str) -> None:
        run("ip", "link", "set", f"v-{name}", "up")

    def _first_process(self, name: str) -> int:
        """unshare's child: in the new namespaces from its start."""
        parent = self.hosts[name].pid
        children = Path(f"/proc/{parent}/task/{parent}/children")
        while not (pids := children.read_text().split()):
            if self.hosts[name].poll() is not None:
                raise RuntimeError(f"{name} ended: {(self.folder / name / 'console').read_text()}")
        return int(pids[0])


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
