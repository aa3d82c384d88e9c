"""CPU time that hosts gave their guests: parsing libvirt's figures, and differences of readings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.libvirt import usage
from density_study.cluster.providers.libvirt.guests import guests
from density_study.cluster.providers.libvirt.usage import guest_times, vcpu_times
from density_study.cluster.providers.provider import NodeTime
from density_study.workloads.execution.hosts_around_trial import GuestReading, between
from tests.live.support.guests import topology, vm_host

STATS = """\
Domain: 'study-1-m1'
  vcpu.current=2
  vcpu.maximum=2
  vcpu.0.state=1
  vcpu.0.time=1500000000
  vcpu.0.wait=0
  vcpu.0.delay=721140
  vcpu.1.state=1
  vcpu.1.time=250000000
  vcpu.1.delay=384503

Domain: 'study-1-w1'
  vcpu.current=1
  vcpu.0.state=1
  vcpu.0.time=70000000
  vcpu.0.delay=0

Domain: 'off'
  vcpu.current=2
  vcpu.maximum=2
"""


def test_all_vcpus_count_and_a_domain_that_is_off_has_no_time() -> None:
    times = vcpu_times(STATS)
    assert set(times) == {"study-1-m1", "study-1-w1"}
    assert times["study-1-m1"].cpu_s == pytest.approx(1.75)
    assert times["study-1-m1"].waited_s == pytest.approx(0.001105643)
    assert times["study-1-w1"] == NodeTime(0.07, 0.0)


def test_a_guest_missing_from_libvirt_is_not_reported_as_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Virsh:
        def __init__(self, uri: str) -> None:
            self.uri = uri

        def run(self, *_: str) -> str:
            return STATS

    monkeypatch.setattr(usage, "Virsh", Virsh)
    layout = topology(vm_host("qemu:///system", tmp_path, 1), 1)
    with pytest.raises(StudyError, match="no vCPU times for guest m1"):
        guest_times(guests(Site(tmp_path, "s/r/b1"), layout))


def test_each_guest_gets_the_difference_of_two_readings(tmp_path: Path) -> None:
    cluster: Any = type("C", (), {"topology": topology(vm_host("qemu:///system", tmp_path, 1), 1)})
    before = GuestReading(100.0, {"m1": NodeTime(5.0, 1.0), "w1": NodeTime(2.0, 0.0)})
    after = GuestReading(110.0, {"m1": NodeTime(9.0, 3.0), "w1": NodeTime(2.5, 0.0)})
    first, second = between(cluster, before, after)
    assert (first.node, first.host, first.cpu_s, first.waited_s) == ("m1", "h1", 4.0, 2.0)
    assert (second.node, second.cpu_s, second.from_epoch_s, second.to_epoch_s) == (
        "w1", 0.5, 100.0, 110.0,
    )  # fmt: skip
    assert between(cluster, GuestReading(1.0, {}), GuestReading(2.0, {})) == ()
