"""A network interface of this machine: changed, and put back as it was.

    python -m density_study.cluster.machine.network_link DEVICE SETTINGS

Linux's tc and ip and files of /sys do it, by the privileged program set-network. Standard library only: it
runs on hosts.
"""

from __future__ import annotations

import json
import re
import socket
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from density_study.cluster.machine import packet_cpus
from density_study.cluster.machine.as_root import as_root, failure, may_not, run
from density_study.cluster.machine.equality import ethtool
from density_study.cluster.machine.equality.ethtool import COALESCING
from density_study.cluster.machine.packet_cpus import PROGRAM, SYS
from density_study.cluster.model.errors import do_all
from density_study.cluster.model.network import Network, failed, network_of, unable

TC, IP = "/usr/sbin/tc", "/usr/sbin/ip"
OURS, OF_KERNEL = "d5:", "0:"
"""Handles of queueing disciplines: of ours, and of those that the kernel chooses itself."""
_DEVICE = re.compile(r"[A-Za-z0-9_.:@][A-Za-z0-9_.:@-]{0,14}")
_LARGEST_MTU = 2**31 - 1
_SHORTEST_BURST = 32 * 1024
_BURST_S = 0.002


def device_of(address: str) -> str:
    """The interface that carries the address. InputError if none does, or if it is loopback."""
    link = link_of(address)
    if link is None or is_loopback(link):
        raise unable(f"no network interface but loopback carries {address}")
    return str(link["ifname"])


def link_of(address: str) -> dict[str, Any] | None:
    """What `ip` says of the interface that carries the address; None if no interface does."""
    number = socket.gethostbyname(address)
    links: list[dict[str, Any]] = _json(IP, "-json", "-4", "address", "show")
    found = (
        link
        for link in links
        if any(one.get("local") == number for one in link.get("addr_info", ()))
    )
    return next(found, None)


def is_loopback(link: Mapping[str, Any]) -> bool:
    return "LOOPBACK" in link["flags"]


def state(device: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """All that `apply` changes, except the queueing discipline: `restore` leaves the kernel's own."""
    files = packet_cpus.wanted(device, network_of(settings))
    return {
        "device": device,
        "mtu": _mtu(device),
        "files": packet_cpus.read(files),
        "coalescing": _coalescing(device, settings.get("coalesce", {})),
    }


def apply(device: str, settings: Mapping[str, Any]) -> None:
    """StudyError if the machine does not do it. `settings`: as `Network.declared`."""
    network = network_of(settings)
    for argv in disciplines(network, device):
        _root(*argv)
    if network.mtu is not None:
        _root(*_set_mtu(device, network.mtu))
    packet_cpus.write(packet_cpus.wanted(device, network))
    _coalesce(device, dict(network.coalesce))


def foreign(former: Mapping[str, Any]) -> str:
    """Why `former` cannot be an answer of `state`, in words; empty if it can."""
    device, mtu, files = former.get("device"), former.get("mtu"), former.get("files")
    if not isinstance(device, str) or not _DEVICE.fullmatch(device):
        return f"{str(device)[:40]!r} is not a network interface"
    if type(mtu) is not int or not 0 < mtu <= _LARGEST_MTU or not isinstance(files, dict):
        return f"{str(mtu)[:40]!r} is no MTU, or the files are none"
    coalescing = former.get("coalescing", {})  # earlier versions did not change it
    names = coalescing.keys() - {*COALESCING} if isinstance(coalescing, dict) else {"no name"}
    if names or any(type(one) is not int or not 0 <= one < 2**32 for one in coalescing.values()):
        return f"{str(coalescing)[:40]!r} is not what a card reports about its interrupts"
    return packet_cpus.foreign(files, device)


def changed(former: Mapping[str, Any]) -> list[str]:
    """What differs from `former`, which `state` returned. An interface that is gone has nothing of ours.
    StudyError if it returned no such thing."""
    if fault := foreign(former):
        raise failed(fault)
    device, files = former["device"], packet_cpus.changed(former["files"])
    if not (SYS / device).exists():
        return files
    return [
        *(["queueing discipline"] if _root_handle(device) == OURS else []),
        *(["MTU"] if _mtu(device) != former["mtu"] else []),
        *(["coalescing of interrupts"] if _is_coalesced(former) else []),
        *files,
    ]


def restore(former: Mapping[str, Any]) -> None:
    """Make it as `former` says, which `state` returned; safe to repeat."""
    device, found = former["device"], changed(former)
    acts: dict[str, Callable[[], object]] = {
        "queueing discipline": lambda: _root("tc", "qdisc", "delete", "dev", device, "root"),
        "MTU": lambda: _root(*_set_mtu(device, former["mtu"])),
        "coalescing of interrupts": lambda: _coalesce(device, former["coalescing"]),
    }
    wanted = (act for what, act in acts.items() if what in found)
    do_all(*wanted, lambda: packet_cpus.restore(former["files"]))


def check(address: str, settings: Mapping[str, Any]) -> None:
    """InputError for what the interface with this address cannot have. Changes nothing."""
    network, device = network_of(settings), device_of(address)
    check_kernel(settings)
    (link,) = _json(IP, "-json", "-details", "link", "show", "dev", device)
    if (SYS / device / "address").read_text().strip() != link["address"]:
        raise unable(f"/sys shows the interfaces of another network namespace, not {device}")
    if disciplines(network, device) and _root_handle(device) != OF_KERNEL:
        raise unable(
            f"{device} has a queueing discipline that is not the kernel's own; it could not be put back"
        )
    if network.queues is not None:
        raise unable(f"the queues of {device} are its hardware's; only containers choose them")
    if network.mtu is not None:
        if network.mtu > link.get("max_mtu", network.mtu):
            raise unable(f"the MTU of {device} is at most {link['max_mtu']}")
        if why := may_not(PROGRAM, *_set_mtu(device, network.mtu)):
            raise unable(why)
    if network.coalesce:
        _check_coalescing(device, dict(network.coalesce))
    packet_cpus.check(device, network)


def check_kernel(settings: Mapping[str, Any]) -> None:
    """InputError for what no interface of this machine can have. A namespace is made for the try."""
    network = network_of(settings)
    for words in disciplines(replace(network, xps=()), "lo")[:1]:
        if why := may_not(PROGRAM, "try", *words[1:]):
            raise unable(why)
        done = as_root(PROGRAM, "try", *words[1:])
        if done.returncode:
            raise unable(failure(done, words))
    packet_cpus.check_kernel(network)


def disciplines(network: Network, device: str) -> list[tuple[str, ...]]:
    """Command lines of tc, as set-network takes them. A network has a rate, or delay and loss, or queues that
    CPUs choose: `mq` counts what each of them sends. Pure."""
    at_root = ("tc", "qdisc", "replace", "dev", device, "root", "handle", OURS)
    delay = () if network.delay_ms is None else ("delay", f"{network.delay_ms:g}ms")
    loss = () if network.loss_percent is None else ("loss", f"{network.loss_percent:g}%")
    if delay or loss:
        return [(*at_root, "netem", "limit", "100000", *delay, *loss)]
    if network.xps:
        return [(*at_root, "mq")]
    if network.rate_mbit_s is None:
        return []
    bits_s = round(network.rate_mbit_s * 1e6)
    rate, burst = f"{bits_s}bit", str(max(_SHORTEST_BURST, round(bits_s / 8 * _BURST_S)))
    if network.shaper == "tbf":
        return [(*at_root, "tbf", "rate", rate, "burst", burst, "latency", "50ms")]
    limits = ("htb", "rate", rate, "ceil", rate, "burst", burst, "cburst", burst)
    classes = ("tc", "class", "replace", "dev", device, "parent", OURS, "classid", f"{OURS}1")
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


def _mtu(device: str) -> int:
    return int((SYS / device / "mtu").read_text())


def _set_mtu(device: str, mtu: int) -> tuple[str, ...]:
    return ("ip", "link", "set", "dev", device, "mtu", str(mtu))


def _coalescing(device: str, names: Iterable[str]) -> dict[str, int]:
    found = ethtool.coalescing(device) if names else {}
    return {name: found[name] for name in names}


def _coalesce(device: str, values: Mapping[str, int]) -> None:
    """StudyError if the card does not take them, or says something else afterwards."""
    if not values:
        return
    _root("coalesce", device, *map(str, {**ethtool.coalescing(device), **values}.values()))
    if _fixed(shown := _coalescing(device, values), values) != _fixed(values, values):
        raise failed(f"the coalescing of {device} is {shown} after {dict(values)} was set")


def _is_coalesced(former: Mapping[str, Any]) -> bool:
    values = former.get("coalescing", {})
    return _fixed(_coalescing(former["device"], values), values) != _fixed(values, values)


def _fixed(shown: Mapping[str, int], values: Mapping[str, int]) -> dict[str, int]:
    """Without what the card itself changes at these values."""
    moved = [way for way in ("rx", "tx") if values.get(f"adaptive-{way}")]
    own = {f"{way}-{what}" for way in moved for what in ("usecs", "frames")}
    return {name: value for name, value in shown.items() if name not in own}


def _check_coalescing(device: str, values: Mapping[str, int]) -> None:
    try:
        there, now = ethtool.settable_coalescing(device), ethtool.coalescing(device)
    except OSError as error:
        raise unable(
            f"{device} does not let its interrupts be coalesced ({error.strerror}); bridges, veth pairs and "
            "many virtual cards have none"
        ) from error
    if others := sorted(values.keys() - there):
        takes = ", ".join(name for name in COALESCING if name in there) or "nothing"
        raise unable(f"{device} does not coalesce by {others[0]}; its driver takes {takes}")
    for way in ("rx", "tx"):
        adapts = {**now, **values}[f"adaptive-{way}"]
        if adapts and (fixed := {f"{way}-usecs", f"{way}-frames"} & values.keys()):
            raise unable(
                f"adaptive-{way} of {device} is on, and changes {min(fixed)} with the load; add "
                f"adaptive-{way}: off to the level"
            )
    if why := may_not(PROGRAM, "coalesce", device, *map(str, now.values())):
        raise unable(why)


def _root_handle(device: str) -> str:
    found = _json(TC, "-json", "qdisc", "show", "dev", device)
    return next((str(one["handle"]) for one in found if one.get("root")), OF_KERNEL)


def _json(*argv: str) -> Any:
    done = run(*argv)
    if done.returncode:
        raise unable(failure(done, argv))
    return json.loads(done.stdout or "[]")


def _root(*words: str) -> None:
    done = as_root(PROGRAM, *words)
    if done.returncode:
        raise failed(failure(done, words))


if __name__ == "__main__":
    apply(sys.argv[1], json.loads(sys.argv[2]))
