"""Networks of containers: what a variant declares is measured, and what it does not declare is not found.

No daemon runs here.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.lifecycle import network_proof
from density_study.cluster.machine.network_link import check_kernel
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.network import Network
from tests.live.network.measured_networks import made, measured

_ABLE = os.geteuid() == 0 and shutil.which("runc", path="/usr/sbin:/usr/bin") is not None
pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not _ABLE, reason="needs root and runc (tests/packages.sh)"),
]
TWO_CORES = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="one core leaves no other CPU to steer packets to"
)


@pytest.fixture
def one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what cannot hold."""
    monkeypatch.setattr(network_proof, "_ATTEMPTS", 1)


@pytest.mark.parametrize("shaper", ["tbf", pytest.param("htb", marks=pytest.mark.slow)])
def test_a_limit_of_100_mbit_s_is_measured_within_2_percent(tmp_path: Path, shaper: Any) -> None:
    with made(tmp_path, Network(100.0, shaper)) as up:
        rate = measured(up)["rate"]
    assert rate["holds"] is True
    assert rate["measured"] == pytest.approx(100.0, rel=0.02)


@pytest.mark.slow
@pytest.mark.usefixtures("one_attempt")
def test_what_a_network_does_not_have_is_not_found(tmp_path: Path) -> None:
    """The same probe, in a network that nothing was done to."""
    with made(tmp_path, Network()) as up:
        assert measured(up)["rate"]["measured"] > 500.0
        found = measured(up, Network(100.0, mtu=9000, queues=2))
    assert {what: one["holds"] for what, one in found.items()} == {
        "rate": False,
        "mtu": False,
        "queues": False,
    }


def test_long_packets_and_queues(tmp_path: Path) -> None:
    with made(tmp_path, Network(mtu=9000, queues=2)) as up:
        found = measured(up)
    assert {what: one["holds"] for what, one in found.items()} == {
        "rate": True,
        "mtu": True,
        "queues": True,
    }
    assert (found["mtu"]["measured"], found["queues"]["measured"]) == (9000, 2)


@TWO_CORES
@pytest.mark.parametrize("cpu", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_steering_moves_packets_to_the_cpu_named_and_to_no_other(
    tmp_path: Path, cpu: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with made(tmp_path, Network(rps=(cpu,))) as up:
        there = measured(up)["steered"]
        monkeypatch.setattr(network_proof, "_ATTEMPTS", 1)
        elsewhere = measured(up, Network(rps=(1 - cpu,)))["steered"]
    assert there["holds"] is True and there["measured"] >= 90.0
    assert elsewhere["holds"] is False and elsewhere["measured"] <= 20.0


@TWO_CORES
def test_each_cpu_sends_by_its_own_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with made(tmp_path, Network(queues=2, xps=(1, 0))) as up:
        there = measured(up)["transmitted"]
        monkeypatch.setattr(network_proof, "_ATTEMPTS", 1)
        otherwise = measured(up, Network(queues=2, xps=(0, 1)))["transmitted"]
    assert there["holds"] is True and there["measured"] >= 90.0
    assert otherwise["holds"] is False and otherwise["measured"] <= 20.0


@TWO_CORES
@pytest.mark.slow
@pytest.mark.usefixtures("one_attempt")
def test_unsteered_packets_stay_where_they_were_sent(tmp_path: Path) -> None:
    with made(tmp_path, Network()) as up:
        assert measured(up, Network(rps=(1,)))["steered"]["holds"] is False


def test_a_kernel_without_netem_refuses_delay_and_loss(tmp_path: Path) -> None:
    """With netem, they are measured."""
    network = Network(delay_ms=5.0, loss_percent=2.0)
    try:
        check_kernel(network.declared())
    except InputError as error:
        assert "netem" in error.what
        with pytest.raises(InputError, match="no CPU 1023"):
            check_kernel(Network(rps=(1023,)).declared())
        return
    with made(tmp_path, network) as up:
        found = measured(up)
    assert found["round_trip"]["holds"] is True and found["lost"]["holds"] is True
