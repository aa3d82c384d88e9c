"""What two nodes' network does, measured between them.

    python -m density_study.cluster.machine.network_probe receive ADDRESS PORT FOLLOWED
    python -m density_study.cluster.machine.network_probe send ADDRESS PORT AVOIDED MTU COUNT CPUS FOLLOWED

Each prints a JSON object. The sender, on other CPUs than the AVOIDED ones, waits for echoes of small messages
(round trips), sends datagrams that may not be fragmented, one of the size of the MTU and COUNT small ones,
some more from each of the CPUS, then, if FOLLOWED is 1, some to a reader that changes its CPU, and at last
one stream of TCP for some seconds. Standard library only: it runs on nodes.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from density_study.cluster.machine import network_link, packet_cpus, softnet
from density_study.cluster.machine.equality import ethtool

SKIP_S, MEASURE_S = 0.4, 1.6
"""Seconds of the stream that are left out while queues and windows fill, and seconds that are measured."""
_PATIENCE_S = 20.0
_ROUND_TRIPS = 21
_PACE_S = 0.001
_OF_EACH_CPU = 200
_BURSTS, _BURST, _BURST_PACE_S = 200, 20, 0.0005
"""To each CPU: many more than other programs send meanwhile, and no more at once than a socket holds."""
_LAST, _NO_CPU = b"!", 0xFFFF
_DISCARD = 9
"""A port where nobody listens."""
_LAST_WORD_S = 0.5
_BLOCK = bytes(256 * 1024)
DATAGRAM_HEADERS = 28  # of IPv4 and UDP
_HEADERS = 14 + 20 + 20
"""Ethernet's, IPv4's and TCP's without options; the segment size of a socket leaves options out."""
_IP_MTU_DISCOVER, _IP_PMTUDISC_DO, _IP_MTU = 10, 2, 14


def receive(address: str, port: int, followed: bool) -> dict[str, object]:
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
            found: dict[str, object] = {"datagrams": len(sizes), "largest": max(sizes, default=0)}
            if followed:
                found["followed"] = _followed(stream, datagrams)
            device = network_link.device_of(address)
            for name, ask in (("queues", ethtool.queues), ("coalescing", ethtool.coalescing)):
                with suppress(OSError):  # a driver that does not know
                    found[name] = ask(device)
            return {**_measured(stream, device), **found}


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


def _followed(stream: socket.socket, datagrams: socket.socket) -> dict[int, float]:
    """Percent of the packets that a CPU processed while this process read on it: the first and the last one
    that it may use. Datagrams, because acknowledgements of a stream go to the sender's CPU."""
    found, allowed = {}, os.sched_getaffinity(0)
    datagrams.settimeout(_LAST_WORD_S)
    try:
        for cpu in sorted({min(allowed), max(allowed)}):
            os.sched_setaffinity(0, {cpu})
            before, count, word = softnet.by_cpu(), 0, b""
            stream.sendall(struct.pack("!H", cpu))
            with suppress(TimeoutError):
                while word != _LAST:
                    word, source = datagrams.recvfrom(1)
                    if not count:  # the kernel notes the reader's CPU for connected sockets
                        datagrams.connect(source)
                    count += 1
            after = softnet.by_cpu()
            packets = {one: after[one]["packets"] - before[one]["packets"] for one in before}
            if count > _BURST:  # else the sender has no other CPU
                found[cpu] = 100.0 * packets[cpu] / sum(packets.values())
    finally:
        os.sched_setaffinity(0, allowed)
        stream.sendall(struct.pack("!H", _NO_CPU))
    return found


def _measured(stream: socket.socket, device: str) -> dict[str, object]:
    """For the stream: bits per second on the wire, and packets and interrupts that each CPU processed."""
    buffer = bytearray(2**20)
    stream.recv_into(buffer)
    begun_s = time.monotonic()
    counted, since_s, now_s, before = 0, None, begun_s, softnet.by_cpu()
    interrupts = packet_cpus.interrupts_by_cpu(device)
    while read := stream.recv_into(buffer):
        now_s = time.monotonic()
        if since_s is not None:
            counted += read
        elif now_s - begun_s >= SKIP_S:
            since_s = now_s
        if now_s - begun_s >= SKIP_S + MEASURE_S:
            break
    after, since = softnet.by_cpu(), packet_cpus.interrupts_by_cpu(device)
    size = stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
    options = 12  # time stamps, as Linux has them by default
    payload_bits_s = counted * 8 / (now_s - since_s) if since_s is not None else 0.0
    return {
        "mbit_s": payload_bits_s / 1e6 * (size + options + _HEADERS) / size,
        "packets_by_cpu": {cpu: after[cpu]["packets"] - before[cpu]["packets"] for cpu in before},
        "interrupts": {
            number: {cpu: count - interrupts[number][cpu] for cpu, count in counts.items()}
            for number, counts in since.items()
        },
    }


def send(
    address: str,
    port: int,
    avoided: set[int],
    mtu: int,
    count: int,
    cpus: Sequence[int],
    followed: bool,
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
        if followed:
            _send_to_each_cpu(stream, address, port)
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


def _send_to_each_cpu(stream: socket.socket, address: str, port: int) -> None:
    """Never from the CPU on which the receiver reads."""
    allowed = os.sched_getaffinity(0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect((address, port))
        while True:
            (cpu,) = struct.unpack("!H", stream.recv(2, socket.MSG_WAITALL))
            if cpu == _NO_CPU:
                break
            others = allowed - {cpu}
            os.sched_setaffinity(0, others or allowed)
            for _ in range(_BURSTS if others else 0):
                for _ in range(_BURST):
                    out.send(b".")
                time.sleep(_BURST_PACE_S)
            out.send(_LAST)
    os.sched_setaffinity(0, allowed)


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
    """A connection to the receiver, as soon as that one listens."""
    deadline_s = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return socket.create_connection((address, port), timeout=_PATIENCE_S)
        except OSError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(0.05)


def main(argv: list[str]) -> Mapping[str, object]:
    verb, address, port, *more, followed = argv
    if verb == "receive":
        return receive(address, int(port), followed == "1")
    avoided, mtu, count, senders = more
    away, cpus = ([int(cpu) for cpu in text.split(",") if cpu] for text in (avoided, senders))
    return send(address, int(port), set(away), int(mtu), int(count), cpus, followed == "1")


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
