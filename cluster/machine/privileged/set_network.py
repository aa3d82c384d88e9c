#!/usr/bin/python3 -IS
"""set-network COMMAND: one of the commands below, about an interface of this machine or its packets' CPUs."""

from __future__ import annotations

import array
import fcntl
import os
import re
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence

PLAIN = r"[A-Za-z0-9:.,%/+_-]{1,100}"
"""For each word: without spaces, so that the words of a joined line are certain."""
DEVICE = r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}"
INTEGER, NUMBER = r"[0-9]{1,15}", r"[0-9][0-9.e+-]{0,15}"
DISCIPLINE = (
    rf"root handle d5: (netem limit {INTEGER}( delay {NUMBER}ms)?( loss {NUMBER}%)?|mq|htb default 1"
    rf"|tbf rate {INTEGER}bit burst {INTEGER} latency 50ms)"
)
CLASS = rf"parent d5: classid d5:1 htb rate {INTEGER}bit ceil {INTEGER}bit burst {INTEGER} cburst {INTEGER}"
PROGRAMS = {
    rf"tc qdisc replace dev {DEVICE} {DISCIPLINE}": ("/usr/sbin/tc",),
    rf"tc class replace dev {DEVICE} {CLASS}": ("/usr/sbin/tc",),
    rf"tc qdisc delete dev {DEVICE} root": ("/usr/sbin/tc",),
    rf"ip link set dev {DEVICE} mtu {INTEGER}": ("/usr/sbin/ip",),
    # in a network namespace that is removed at once: whether the kernel has the discipline
    rf"try qdisc replace dev lo {DISCIPLINE}": ("/usr/bin/unshare", "--net", "/usr/sbin/tc"),
}
QUEUE = rf"/sys/class/net/{DEVICE}/queues"
FILES = (
    rf"{QUEUE}/rx-{INTEGER}/rps_(cpus|flow_cnt)",
    rf"{QUEUE}/tx-{INTEGER}/xps_cpus",
    r"/proc/sys/net/core/rps_sock_flow_entries",
    rf"/proc/irq/{INTEGER}/smp_affinity_list",
)
TEXT = r"[0-9a-f,-]{1,100}"
COALESCE = rf"coalesce {DEVICE}( [0-9]{{1,10}}){{22}}"
SIOCETHTOOL, SET_COALESCING = 0x8946, 0xF


def command(words: Sequence[str]) -> list[str] | None:
    """The command line of the program for the words, without `write`; None if there is none."""
    if not all(re.fullmatch(PLAIN, word) for word in words):
        return None
    line = " ".join(words)
    for form, program in PROGRAMS.items():
        if re.fullmatch(form, line):
            return [*program, *words[1:]]
    return None


def may_write(words: Sequence[str]) -> bool:
    """Whether they are `write FILE TEXT [FILE TEXT ...]` with a file that says which CPUs process packets."""
    files, texts = words[1::2], words[2::2]
    return (
        [*words[:1]] == ["write"]
        and 0 < len(files) == len(texts)
        and all(any(re.fullmatch(form, file) for form in FILES) for file in files)
        and all(re.fullmatch(TEXT, text) for text in texts)
    )


def coalesce(device: str, values: Sequence[str]) -> None:
    """Gives the card all 22 numbers of the kernel's struct ethtool_coalesce."""
    try:
        row = array.array("I", (SET_COALESCING, *map(int, values)))
        request = struct.pack("16sP16x", device.encode(), row.buffer_info()[0])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, SIOCETHTOOL, request)
    except (OSError, OverflowError) as error:
        sys.exit(f"{device}: {error}")


def main() -> None:
    words = sys.argv[1:]
    if re.fullmatch(COALESCE, " ".join(words)) and len(words) == 24:
        coalesce(words[1], words[2:])
        return
    if may_write(words):
        for name, text in zip(words[1::2], words[2::2], strict=True):
            try:
                file = os.open(name, os.O_WRONLY | os.O_NOFOLLOW)
                os.write(file, text.encode())
                os.close(file)
            except OSError as error:
                sys.exit(f"{name}: {error.strerror}")
        return
    argv = command(words)
    if argv is None:
        sys.exit(
            "usage: set-network tc|ip|try|write|coalesce ..., as the head of this program lists"
        )
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
    try:
        done = subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        sys.exit(f"{argv[0]}: {error.strerror}")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
