"""What two nodes' network does, measured between them.

    python -m density_study.cluster.machine.network_probe receive ADDRESS PORT
    python -m density_study.cluster.machine.network_probe send ADDRESS PORT AVOIDED_CPUS MTU DATAGRAMS CPUS

Each prints a JSON object. The sender waits for echoes of small messages (round trips), sends datagrams that
may not be fragmented, the first of the size of the MTU, some more from each of the CPUS, and then one stream
of TCP for some seconds. Standard library only: it runs on nodes.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import socket
import statistics
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from density_study.cluster.machine import network_link, softnet

SKIP_S, MEASURE_S = 0.4, 1.6
"""Of the stream: what fills queues and windows is left out."""
_PATIENCE_S = 20.0
_ROUND_TRIPS = 21
_PACE_S = 0.001
_OF_EACH_CPU = 200
_DISCARD = 9
"""A port where nobody listens."""
_LAST_WORD_S = 0.5
_BLOCK = bytes(256 * 1024)
DATAGRAM_HEADERS = 28  # of IPv4 and UDP
_HEADERS = 14 + 20 + 20
"""Ethernet's, IPv4's and TCP's without options; the segment size of a socket leaves options out."""
_IP_MTU_DISCOVER, _IP_PMTUDISC_DO, _IP_MTU = 10, 2, 14
_SIOCETHTOOL, _ETHTOOL_GCHANNELS = 0x8946, 0x3C


def receive(address: str, port: int) -> dict[str, object]:
    with (
        socket.create_server((address, port)) as server,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        datagrams.bind((address, port))
        server.settimeout(_PATIENCE_S)
        stream, _ = server.accept()
        with stream:
            stream.settimeout(_PATIENCE_S)
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(_ROUND_TRIPS):
                stream.sendall(stream.recv(1))
            sizes = _until_all_sent(stream, datagrams)
            found = {"datagrams": len(sizes), "largest": max(sizes, default=0)}
            with suppress(OSError):  # a driver that does not know
                found["queues"] = queues(network_link.device_of(address))
            return {**_measured(stream), **found}


def queues(device: str) -> int:
    """That receive. From the driver, as /sys may be that of another namespace."""
    channels = bytearray(struct.pack("9I", _ETHTOOL_GCHANNELS, *[0] * 8))
    place = (ctypes.c_char * len(channels)).from_buffer(channels)
    request = struct.pack("16sP", device.encode(), ctypes.addressof(place))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCETHTOOL, request)
    _, _, _, _, _, receiving, _, _, combined = struct.unpack("9I", channels)
    return int(receiving + combined)


def _until_all_sent(stream: socket.socket, datagrams: socket.socket) -> list[int]:
    """Sizes of the datagrams that arrive until the sender says that it has sent all."""
    stream.recv(1)
    datagrams.settimeout(_LAST_WORD_S)
    sizes = []
    with suppress(TimeoutError):
        while True:
            sizes.append(len(datagrams.recv(2**16)))
    stream.sendall(b".")
    return sizes


def _measured(stream: socket.socket) -> dict[str, object]:
    """Of the stream: bits per second on the wire, and packets that each CPU processed."""
    buffer = bytearray(2**20)
    stream.recv_into(buffer)
    begun_s = time.monotonic()
    counted, since_s, now_s, before = 0, None, begun_s, softnet.by_cpu()
    while read := stream.recv_into(buffer):
        now_s = time.monotonic()
        if since_s is not None:
            counted += read
        elif now_s - begun_s >= SKIP_S:
            since_s = now_s
        if now_s - begun_s >= SKIP_S + MEASURE_S:
            break
    after = softnet.by_cpu()
    size = stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
    options = 12  # time stamps, as Linux has them by default
    payload_bits_s = counted * 8 / (now_s - since_s) if since_s is not None else 0.0
    return {
        "mbit_s": payload_bits_s / 1e6 * (size + options + _HEADERS) / size,
        "packets_by_cpu": {cpu: after[cpu]["packets"] - before[cpu]["packets"] for cpu in before},
    }


def send(
    address: str, port: int, avoided: set[int], mtu: int, count: int, cpus: Sequence[int] = ()
) -> dict[str, object]:
    """From other CPUs than the `avoided` ones: a CPU that sends may also process what it has sent.
    A datagram of the MTU's size (0: the one that the route has) is followed by `count` small ones. `cpus`: of
    which it is counted by which queue they send."""
    if avoided and (others := os.sched_getaffinity(0) - avoided):
        os.sched_setaffinity(0, others)
    with _connected(address, port) as stream:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        trips = []
        for _ in range(_ROUND_TRIPS):
            begun_s = time.perf_counter()
            stream.sendall(b".")
            stream.recv(1)
            trips.append((time.perf_counter() - begun_s) * 1e3)
        sent = _send_datagrams(address, port, mtu, count)
        stream.sendall(b".")
        stream.recv(1)
        with suppress(OSError):  # a CPU that this node may not use
            sent |= {"by_queue": _by_queue(address, stream.getsockname()[0], cpus)}
        with suppress(ConnectionError):  # the receiver has measured enough
            end_s = time.monotonic() + SKIP_S + MEASURE_S + _LAST_WORD_S
            while time.monotonic() < end_s:
                stream.sendall(_BLOCK)
        return {**sent, "round_trip_ms": statistics.median(trips)}


def _by_queue(address: str, own: str, cpus: Sequence[int]) -> dict[int, list[int]]:
    """Packets that each queue sent while this process sent from each of the CPUs."""
    found, allowed = {}, os.sched_getaffinity(0)
    device = network_link.device_of(own)
    try:
        for cpu in cpus:
            os.sched_setaffinity(0, {cpu})
            before = network_link.sent_by_queue(device)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
                for _ in range(_OF_EACH_CPU):
                    out.sendto(b".", (address, _DISCARD))
            after = network_link.sent_by_queue(device)
            found[cpu] = [now - then for now, then in zip(after, before, strict=True)]
    finally:
        os.sched_setaffinity(0, allowed)
    return found


def _send_datagrams(address: str, port: int, mtu: int, count: int) -> dict[str, object]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, _IP_PMTUDISC_DO)
        out.connect((address, port))
        seen = out.getsockopt(socket.IPPROTO_IP, _IP_MTU)
        sent = 0
        for size in ((mtu or seen) - DATAGRAM_HEADERS, *[64] * count):
            with suppress(OSError):  # too long
                out.send(bytes(size))
                sent += 1
            time.sleep(_PACE_S)
        return {"mtu": seen, "sent": sent}


def _connected(address: str, port: int) -> socket.socket:
    """Once the receiver listens."""
    deadline_s = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return socket.create_connection((address, port), timeout=_PATIENCE_S)
        except OSError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(0.05)


def main(argv: list[str]) -> Mapping[str, object]:
    verb, address, port, *more = argv
    if verb == "receive":
        return receive(address, int(port))
    avoided, mtu, count, senders = more
    away, cpus = ([int(cpu) for cpu in text.split(",") if cpu] for text in (avoided, senders))
    return send(address, int(port), set(away), int(mtu), int(count), cpus)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
