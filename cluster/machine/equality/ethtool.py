"""What a network card says of itself: the kernel's ethtool interface, without the program of that name.

Numbers and structures are those of linux/ethtool.h. Standard library only: it runs on hosts.
"""

from __future__ import annotations

import array
import fcntl
import os
import socket
import struct
from collections.abc import Callable, Mapping

_SIOCETHTOOL = 0x8946
_DRIVER, _RINGS, _COALESCING, _CHANNELS = 0x3, 0x10, 0xE, 0x3C
_GENERIC_NETLINK, _CONTROLLER, _REQUEST, _FAULT = 16, 16, 1, 2
_GET_FAMILY, _FAMILY_ID, _FAMILY_NAME = 3, 1, 2
_GET_COALESCING, _OF_DEVICE, _DEVICE_NAME, _NESTED, _TYPES = 19, 1, 2, 0x8000, 0x3FFF
"""Numbers of linux/netlink.h, genetlink.h and ethtool_netlink.h, whose attributes of coalescing are in the
order of COALESCING, after that of the device."""
_PATIENCE_S = 5.0
_DRIVER_BYTES = 196
COALESCING = (
    "rx-usecs", "rx-frames", "rx-usecs-irq", "rx-frames-irq", "tx-usecs", "tx-frames", "tx-usecs-irq",
    "tx-frames-irq", "stats-block-usecs", "adaptive-rx", "adaptive-tx", "pkt-rate-low", "rx-usecs-low",
    "rx-frames-low", "tx-usecs-low", "tx-frames-low", "pkt-rate-high", "rx-usecs-high", "rx-frames-high",
    "tx-usecs-high", "tx-frames-high", "sample-interval",
)  # fmt: skip
_RING_NAMES = ("rx-max", "rx-mini-max", "rx-jumbo-max", "tx-max", "rx", "rx-mini", "rx-jumbo", "tx")
_CHANNEL_NAMES = ("rx-max", "tx-max", "other-max", "combined-max", "rx", "tx", "other", "combined")
_OFFLOADS = {
    "rx-checksum": 0x14,
    "tx-checksum": 0x16,
    "sg": 0x18,
    "tso": 0x1E,
    "gso": 0x23,
    "gro": 0x2B,
}
_FLAGS, _OF_FLAGS = 0x25, {"lro": 15, "rx-hash": 28}


def ask(device: str, command: int, size: int) -> bytes:
    """The kernel's answer. OSError if the driver has none."""
    buffer = array.array("B", struct.pack("I", command) + bytes(size - 4))
    request = struct.pack("16sP16x", device.encode(), buffer.buffer_info()[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCETHTOOL, request)
    return buffer.tobytes()


def numbers(device: str, command: int, names: tuple[str, ...]) -> dict[str, int]:
    """An answer that is a row of 32-bit numbers."""
    form = f"{1 + len(names)}I"
    return dict(
        zip(
            names, struct.unpack(form, ask(device, command, struct.calcsize(form)))[1:], strict=True
        )
    )


def coalescing(device: str) -> dict[str, int]:
    """How long, and for how many packets, the card waits before it interrupts. OSError if it does not say."""
    return numbers(device, _COALESCING, COALESCING)


def queues(device: str) -> int:
    """Number of receive queues. From the driver, because /sys may be that of another namespace."""
    found = numbers(device, _CHANNELS, _CHANNEL_NAMES)
    return found["rx"] + found["combined"]


def settable_coalescing(device: str) -> frozenset[str]:
    """The names of COALESCING that the driver takes. OSError if it has none, or Linux is older than 5.6."""
    name = _attribute(_FAMILY_NAME, b"ethtool\0")
    family = struct.unpack("H", _answer(_CONTROLLER, _GET_FAMILY, name)[_FAMILY_ID])[0]
    of_device = _attribute(_DEVICE_NAME, device.encode() + b"\0")
    found = _answer(family, _GET_COALESCING, _attribute(_OF_DEVICE | _NESTED, of_device))
    return frozenset(COALESCING[kind - 2] for kind in found if 2 <= kind < len(COALESCING) + 2)


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def _answer(family: int, command: int, attributes: bytes) -> dict[int, bytes]:
    """The attributes of the kernel's answer by generic netlink, by kind."""
    request = struct.pack("IHHIIBBH", 20 + len(attributes), family, _REQUEST, 0, 0, command, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _GENERIC_NETLINK) as kernel:
        kernel.settimeout(_PATIENCE_S)
        kernel.send(request + attributes)
        answer = kernel.recv(2**16)
    size, kind = struct.unpack_from("IH", answer)
    if kind == _FAULT:
        number = -struct.unpack_from("i", answer, 16)[0]
        raise OSError(number, os.strerror(number))
    found, place = {}, 20
    while place < size:
        length, one = struct.unpack_from("HH", answer, place)
        found[one & _TYPES] = answer[place + 4 : place + length]
        place += length + -length % 4
    return found


def _text(place: int) -> Callable[[str], str]:
    def read(device: str) -> str:
        found = ask(device, _DRIVER, _DRIVER_BYTES)[4 + 32 * place : 36 + 32 * place]
        return found.split(b"\0")[0].decode("ascii", "replace")

    return read


def _rows(command: int, names: tuple[str, ...]) -> Callable[[str], str]:
    """'rx 1024, tx 1024': without zeros, which most drivers give to what they lack."""
    return lambda device: ", ".join(
        f"{name} {count}" for name, count in numbers(device, command, names).items() if count
    )


def _offloads(device: str) -> str:
    on = [name for name, number in _OFFLOADS.items() if numbers(device, number, (name,))[name]]
    flags = numbers(device, _FLAGS, ("flags",))["flags"]
    return ", ".join((*on, *(name for name, bit in _OF_FLAGS.items() if flags >> bit & 1)))


READERS: Mapping[str, Callable[[str], str]] = {
    "driver": _text(0),
    "version": _text(1),
    "firmware": _text(2),
    "rings": _rows(_RINGS, _RING_NAMES),
    "coalescing": _rows(_COALESCING, COALESCING),
    "queues": _rows(_CHANNELS, _CHANNEL_NAMES),
    "offloads": _offloads,
}
"""Name of a fact in the table -> how it is read from a network card."""
