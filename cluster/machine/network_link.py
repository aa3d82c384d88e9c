"""A network interface of this machine: changed, and put back as it was.

    python -m density_study.cluster.machine.network_link DEVICE SETTINGS

Linux's tc and ip and files of /sys do it, as root or by sudo. Standard library only: it runs on hosts.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from density_study.cluster.machine.as_root import as_root, run
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.network import Network, network_of

TC, IP, TEE, UNSHARE = "/usr/sbin/tc", "/usr/sbin/ip", "/usr/bin/tee", "/usr/bin/unshare"
OURS, OF_KERNEL = "d5:", "0:"
"""Handles of queueing disciplines: of ours, and of those that the kernel chooses itself."""
SYS = Path("/sys/class/net")
_SHORTEST_BURST = 32 * 1024
_BURST_S = 0.002


def device_of(address: str) -> str:
    """The interface that carries the address. InputError if none does, or if it is loopback."""
    number = socket.gethostbyname(address)
    links = _json(IP, "-json", "-4", "address", "show")
    found = [
        link
        for link in links
        if any(one.get("local") == number for one in link.get("addr_info", ()))
    ]
    if not found or "LOOPBACK" in found[0]["flags"]:
        raise _unable(f"no network interface but loopback carries {address}")
    return str(found[0]["ifname"])


def state(device: str) -> dict[str, Any]:
    """All that `apply` changes, except the queueing discipline: `restore` leaves the kernel's own."""
    steering = {path.parent.name: path.read_text().strip() for path in _steering(device)}
    return {
        "device": device,
        "mtu": int((SYS / device / "mtu").read_text()),
        "steering": steering,
    }


def apply(device: str, settings: Mapping[str, Any]) -> None:
    """StudyError if the machine does not do it. `settings`: as `Network.declared`."""
    network = network_of(settings)
    for argv in disciplines(network, device):
        _root(*argv)
    if network.mtu is not None:
        _root(*_set_mtu(device, network.mtu))
    if network.steer:
        _steer(device, {path.parent.name: mask(network.steer) for path in _steering(device)})
    if network.transmit:
        _transmit(device, network)


def changed(former: Mapping[str, Any]) -> list[str]:
    """What differs from `former`, which `state` returned. An interface that is gone has nothing of ours."""
    device = former["device"]
    if not (SYS / device).exists():
        return []
    now = state(device)
    return [
        *(["queueing discipline"] if _root_handle(device) == OURS else []),
        *(["MTU"] if now["mtu"] != former["mtu"] else []),
        *(["packet steering"] if now["steering"] != former["steering"] else []),
    ]


def restore(former: Mapping[str, Any]) -> None:
    """Make it as `former` says, which `state` returned; safe to repeat."""
    device, found = former["device"], changed(former)
    if "queueing discipline" in found:
        _root(TC, "qdisc", "delete", "dev", device, "root")
    if "MTU" in found:
        _root(*_set_mtu(device, former["mtu"]))
    if "packet steering" in found:
        _steer(device, former["steering"])


def check(address: str, settings: Mapping[str, Any]) -> None:
    """InputError for what the interface with this address cannot have. Changes nothing."""
    network, device = network_of(settings), device_of(address)
    check_kernel(settings)
    (link,) = _json(IP, "-json", "-details", "link", "show", "dev", device)
    if (SYS / device / "address").read_text().strip() != link["address"]:
        raise _unable(f"/sys shows the interfaces of another network namespace, not {device}")
    if disciplines(network, device) and _root_handle(device) != OF_KERNEL:
        raise _unable(
            f"{device} has a queueing discipline that is not the kernel's own; it could not be put back"
        )
    if network.queues is not None:
        raise _unable(f"the queues of {device} are its hardware's; only containers choose them")
    if network.mtu is not None:
        if network.mtu > link.get("max_mtu", network.mtu):
            raise _unable(f"the MTU of {device} is at most {link['max_mtu']}")
        _may(*_set_mtu(device, network.mtu))
    for path in _steering(device) if network.steer else ():
        _may(TEE, str(path))


def check_kernel(settings: Mapping[str, Any]) -> None:
    """InputError for what no interface of this machine can have. A namespace is made for the try."""
    network = network_of(settings)
    for argv in disciplines(replace(network, transmit=()), "lo")[:1]:
        done = as_root(UNSHARE, "--net", *argv)
        if done.returncode:
            raise _unable(_failure(done, argv))
    count = os.cpu_count() or 1
    if missing := [cpu for cpu in (*network.steer, *network.transmit) if cpu >= count]:
        raise _unable(f"there is no CPU {missing[0]}, only 0 to {count - 1}")
    if network.transmit and not (SYS / "lo" / "queues" / "tx-0" / "xps_cpus").exists():
        raise _unable("this kernel has no transmit packet steering (XPS)")


def disciplines(network: Network, device: str) -> list[tuple[str, ...]]:
    """Command lines of tc. A network has a rate, or delay and loss, or queues that CPUs choose: `mq` counts
    what each of them sends. Pure."""
    at_root = (TC, "qdisc", "replace", "dev", device, "root", "handle", OURS)
    delay = () if network.delay_ms is None else ("delay", f"{network.delay_ms:g}ms")
    loss = () if network.loss_percent is None else ("loss", f"{network.loss_percent:g}%")
    if delay or loss:
        return [(*at_root, "netem", "limit", "100000", *delay, *loss)]
    if network.transmit:
        return [(*at_root, "mq")]
    if network.rate_mbit_s is None:
        return []
    bits_s = round(network.rate_mbit_s * 1e6)
    rate, burst = f"{bits_s}bit", str(max(_SHORTEST_BURST, round(bits_s / 8 * _BURST_S)))
    if network.shaper == "tbf":
        return [(*at_root, "tbf", "rate", rate, "burst", burst, "latency", "50ms")]
    limits = ("htb", "rate", rate, "ceil", rate, "burst", burst, "cburst", burst)
    classes = (TC, "class", "replace", "dev", device, "parent", OURS, "classid", f"{OURS}1")
    return [(*at_root, "htb", "default", "1"), (*classes, *limits)]


def sent_by_queue(device: str) -> list[int]:
    """Packets that each queue of an interface with the discipline `mq` has sent."""
    found = _json(TC, "-s", "-json", "qdisc", "show", "dev", device)
    queues = {
        int(one["parent"].partition(":")[2], 16): int(one["packets"])
        for one in found
        if one.get("parent", "").startswith(OURS)
    }
    return [queues[number] for number in sorted(queues)]


def transmit_masks(network: Network) -> dict[str, str]:
    """Of each queue: CPU number i of the list sends by queue i modulo their number. Pure."""
    count = network.queues or 1
    return {f"tx-{queue}": mask(network.transmit[queue::count]) for queue in range(count)}


def mask(cpus: Sequence[int]) -> str:
    """As /sys wants it: hexadecimal, in groups of 32 CPUs."""
    bits = sum(1 << cpu for cpu in set(cpus))
    groups = [f"{bits >> shift & 0xFFFFFFFF:x}" for shift in range(0, bits.bit_length(), 32)]
    first, *others = reversed(groups)
    return ",".join((first, *(group.rjust(8, "0") for group in others)))


def _steering(device: str) -> list[Path]:
    return sorted((SYS / device / "queues").glob("rx-*/rps_cpus"))


def _steer(device: str, masks: Mapping[str, str]) -> None:
    for queue, text in masks.items():
        _root(TEE, str(SYS / device / "queues" / queue / "rps_cpus"), stdin=text)


def _transmit(device: str, network: Network) -> None:
    """StudyError if the kernel shows another mask than the one that was written."""
    for queue, text in transmit_masks(network).items():
        file = SYS / device / "queues" / queue / "xps_cpus"
        _root(TEE, str(file), stdin=text)
        shown = file.read_text().strip()
        if int(shown.replace(",", ""), 16) != int(text.replace(",", ""), 16):
            raise StudyError(
                f"{file} shows {shown} after {text} was written.",
                "factors.network",
                "remove `transmit`: this kernel does not steer what is sent.",
            )


def _set_mtu(device: str, mtu: int) -> tuple[str, ...]:
    return (IP, "link", "set", "dev", device, "mtu", str(mtu))


def _root_handle(device: str) -> str:
    found = _json(TC, "-json", "qdisc", "show", "dev", device)
    return next((str(one["handle"]) for one in found if one.get("root")), OF_KERNEL)


def _json(*argv: str) -> Any:
    done = run(*argv)
    if done.returncode:
        raise _unable(_failure(done, argv))
    return json.loads(done.stdout or "[]")


def _root(*argv: str, stdin: str = "") -> None:
    done = as_root(*argv, stdin=stdin)
    if done.returncode:
        raise StudyError(
            f"{_failure(done, argv)}.",
            "factors.network",
            "see docs/how-to/compare-networks.md for what it needs.",
        )


def _may(*argv: str) -> None:
    """InputError if this user may not run it as root."""
    if os.geteuid() != 0 and run("sudo", "-n", "-l", *argv).returncode:
        raise _unable(f"sudo does not let this user run {' '.join(argv)}")


def _failure(done: subprocess.CompletedProcess[str], argv: Sequence[str]) -> str:
    return f"{' '.join(argv)} fails: {' '.join(done.stderr.split())[:200]}".rstrip(".")


def _unable(why: str) -> InputError:
    return InputError(
        f"this network is not possible: {why}.",
        "factors.network",
        "remove the level, or see docs/how-to/compare-networks.md for what it needs.",
        ("factors", "network"),
    )


if __name__ == "__main__":
    apply(sys.argv[1], json.loads(sys.argv[2]))
