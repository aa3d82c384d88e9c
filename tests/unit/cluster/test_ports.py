"""Ports: allocation, and the error for a port in use."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from typing import Any, ClassVar

import pytest

from density_study.cluster.machine.sockets import (
    answer_at,
    check_free,
    is_taken,
    not_reached,
    reserved,
)
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Target
from density_study.cluster.model.ports import allocate_ports
from density_study.cluster.providers.physical import connections
from density_study.cluster.providers.physical.connections import check_connections
from tests.support.topologies import local, physical


def test_each_address_has_its_own_port_range() -> None:
    ports = allocate_ports(physical())
    assert ports.by_service["big", "namenode.rpc"] == ("192.0.2.10", 21000)
    assert ports.by_service["h1", "datanode.data"] == ("192.0.2.11", 21000)
    assert (
        ports.by_service["h2", "regionserver-2.http"][1]
        == 21000
        + len(physical().store.ports(("worker",), physical().nodes[2].regionserver_names))
        - 1
    )


def test_ports_on_one_address_are_distinct() -> None:
    ports = list(allocate_ports(local(workers=4, servers=3)).by_service.values())
    assert len(set(ports)) == len(ports) == 10 + 4 * (8 + 2 * 3)


def test_a_port_answers_until_the_next_request() -> None:
    (port,) = answer_at("127.0.0.1", [0])
    assert not_reached([("127.0.0.1", port)]) == []
    assert answer_at("127.0.0.1", [port, port]) == [port]  # a port that is taken is no fault of it
    assert answer_at("127.0.0.1", []) == []
    assert not_reached([("127.0.0.1", port)]) == [f"127.0.0.1:{port} (Connection refused)"]


def test_a_name_that_means_loopback_is_refused_and_one_that_nobody_knows_named() -> None:
    with pytest.raises(InputError, match="resolves localhost to 127"):
        answer_at("localhost", [0])
    with pytest.raises(InputError, match=r"nothing can listen on nobody\.invalid"):
        answer_at("nobody.invalid", [0])
    assert "nobody.invalid:9 (" in not_reached([("nobody.invalid", 9)])[0]


class Machine:
    """Each host is an address of the loopback network; `walls` are those that nobody reaches."""

    walls: ClassVar[set[str]] = set()
    listening: ClassVar[dict[str, list[int]]] = {}

    def __init__(self, target: Target) -> None:
        self.target = target

    def act(self, name: str, *arguments: Any) -> Any:
        if name == "answer-at":
            address, ports = arguments
            self.listening[address] = [port or 40_000 for port in ports]
            return self.listening[address]
        return [f"{host}:{port} (No route)" for host, port in arguments[0] if host in self.walls]


@pytest.mark.parametrize("walls", [set(), {"192.0.2.12"}])
def test_hosts_prove_that_they_reach_each_others_ports(
    walls: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Machine, "walls", walls)
    monkeypatch.setattr(connections, "channel", Machine)
    monkeypatch.setattr(connections, "not_reached", lambda _: [])
    addresses = ("192.0.2.11", "192.0.2.12")
    targets = {f"h{n}": Target(f"h{n}", a, 22, "u", "k") for n, a in enumerate(addresses, 1)}
    ports = {address: list(range(21_000, 21_005)) for address in addresses}
    if not walls:
        check_connections(targets, ports)
    else:
        with pytest.raises(InputError) as caught:
            check_connections(targets, ports)
        first = ", ".join(f"192.0.2.12:{port} (No route)" for port in range(21_000, 21_004))
        assert (
            caught.value.what
            == "; ".join(f"{host} cannot connect to {first} and 2 more" for host in ("h1", "h2"))
            + "."
        )
    assert Machine.listening == {address: [] for address in addresses}  # nobody listens any more


@pytest.mark.parametrize("base_port", [80, 32760, 70000])
def test_a_base_port_without_room_is_refused(base_port: int) -> None:
    with pytest.raises(InputError) as caught:
        allocate_ports(local(base_port=base_port))
    assert caught.value.where == "stack.base_port"
    assert "32767" in caught.value.what


def test_a_port_in_use_is_named_with_its_holder(free_port: int) -> None:
    with socket.create_server(("127.0.0.1", free_port)), pytest.raises(InputError) as caught:
        check_free([("127.0.0.1", free_port)])
    assert f"port {free_port} on 127.0.0.1 is taken by process {os.getpid()}" in caught.value.what
    assert "stack.base_port" in caught.value.remedy


def test_its_holder_may_have_any_name(free_port: int) -> None:
    listens = (
        f"import socket; s = socket.create_server(('127.0.0.1', {free_port})); print(1); s.accept()"
    )
    argv = [os.fsencode(sys.executable), b"-uc", listens.encode(), b"\xff"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as holding:
        assert holding.stdout is not None and holding.stdout.readline()
        try:
            with pytest.raises(InputError, match=f"taken by process {holding.pid} "):
                check_free([("127.0.0.1", free_port)])
        finally:
            holding.kill()


def test_a_port_of_a_wildcard_listener_is_in_use(free_port: int) -> None:
    with socket.create_server(("0.0.0.0", free_port)):
        assert is_taken(("127.0.0.1", free_port))
    assert not is_taken(("127.0.0.1", free_port))


def test_a_port_with_lingering_connections_is_free(free_port: int) -> None:
    address = ("127.0.0.1", free_port)
    with socket.create_server(address) as server, socket.create_connection(address):
        accepted, _ = server.accept()
        accepted.close()  # this side closes first: its end stays in TIME_WAIT
    assert not is_taken(("127.0.0.1", free_port))


def test_reserved_ports_make_a_second_study_wait(free_port: int, runtime: None) -> None:
    entered = threading.Event()

    def second() -> None:
        with reserved([("127.0.0.1", free_port)]):
            entered.set()

    with reserved([("127.0.0.1", free_port)]):
        thread = threading.Thread(target=second)
        thread.start()
        assert not entered.wait(0.2)
    thread.join(5)
    assert entered.is_set()
