"""The kernel coalesces as the fake of tests/unit/cluster/equality/test_card_coalescing.py does: a tap device,
which takes one of the numbers, and a veth pair, which has none, are asked."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.machine import network_link
from density_study.cluster.machine.equality import ethtool
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.network import Network

pytestmark = pytest.mark.timeout(60)
TAP, VETH = "study-tap", "study-veth"


@pytest.fixture
def devices() -> Iterator[None]:
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        pytest.skip("nothing was coalesced: needs root, and tap devices")
    addresses = {TAP: "198.18.77.1/32", VETH: "198.18.77.2/32"}
    made = (("tuntap", "add", "dev", TAP, "mode", "tap"), ("link", "add", VETH, "type", "veth"))
    try:
        for words in made:
            subprocess.run(["ip", *words], check=True)
        for device, address in addresses.items():
            subprocess.run(["ip", "address", "add", address, "dev", device], check=True)
        yield
    finally:
        for device in addresses:
            subprocess.run(["ip", "link", "delete", device], check=False)


@pytest.mark.usefixtures("devices")
def test_a_tap_device_gathers_frames_and_is_put_back() -> None:
    level = Network(coalesce=(("rx-frames", 32),)).declared()
    assert ethtool.settable_coalescing(TAP) == {"rx-frames"}
    network_link.check("198.18.77.1", level)
    former = network_link.state(TAP, level)
    assert former["coalescing"] == {"rx-frames": 0}
    network_link.apply(TAP, level)
    assert ethtool.coalescing(TAP)["rx-frames"] == 32
    assert network_link.changed(former) == ["coalescing of interrupts"]
    network_link.restore(former)
    assert ethtool.coalescing(TAP)["rx-frames"] == 0
    assert network_link.changed(former) == []


@pytest.mark.usefixtures("devices")
def test_the_kernel_refuses_what_a_driver_does_not_take() -> None:
    with pytest.raises(StudyError, match=r"fails: study-tap: .*not supported"):
        network_link.apply(TAP, {"coalesce": {"rx-usecs": 50}})
    with pytest.raises(StudyError, match=r"after .*4096.* was set"):  # the driver takes 64 at most
        network_link.apply(TAP, {"coalesce": {"rx-frames": 4096}})
    with pytest.raises(InputError, match="its driver takes rx-frames"):
        network_link.check("198.18.77.1", {"coalesce": {"rx-usecs": 50}})
    with pytest.raises(InputError, match="study-veth does not let its interrupts be coalesced"):
        network_link.check("198.18.77.2", {"coalesce": {"rx-usecs": 50}})
