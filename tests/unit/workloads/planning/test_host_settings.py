"""`study doctor` names settings of hosts that change results, with the command that mends each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.errors import HostLostError
from density_study.cluster.model.host import VmHost
from density_study.workloads.execution import examination
from density_study.workloads.execution.examination import setting_checks
from density_study.workloads.planning.preflight import _acts as acts_of
from tests.support.drafts import plan, study
from tests.support.topologies import local

FACTS = {
    "machine": {
        "h1": {"governor": "powersave", "irqbalance": "runs", "clock_source": "unknown"},
        "h2": {"governor": "powersave", "irqbalance": "does not run", "clock_source": "unknown"},
    },
    "disks": {"h1": {"/data": {"mount_options": "rw,strictatime"}}},
    "network": {},
}


def test_a_warning_for_each_setting_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "facts_of", lambda _: FACTS)
    found = list(setting_checks([local()]))
    assert not any(check.fault for check in found)
    warned = {check.name: check.warning for check in found if check.warning}
    assert set(warned) == {
        "governor of h1, h2", "irqbalance of h1", "mount_options of h1", "hosts are equal"
    }  # fmt: skip
    assert "powersave: the CPU changes its speed" in warned["governor of h1, h2"]
    assert "As root: echo performance | tee /sys/" in warned["governor of h1, h2"]
    assert warned["hosts are equal"] == "irqbalance: runs (h1), does not run (h2)"
    assert found[-1].name.endswith("(unknown: clock_source)") and not found[-1].warning


def test_the_remedy_of_a_disk_names_its_mount(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "facts_of", lambda _: FACTS)
    (one,) = (c for c in setting_checks([local()]) if c.name.startswith("mount_options"))
    assert one.warning.endswith("mount -o remount,noatime $(findmnt -no TARGET -T /data)")


def test_a_host_that_does_not_answer_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(_: object) -> Any:
        raise HostLostError("no answer.", "host 'h1'", "run `study reap`.")

    monkeypatch.setattr(examination, "facts_of", lost)
    (check,) = setting_checks([local()])
    assert check.fault is not None and "no answer" in check.fault.what


REMOTE = VmHost("qemu+ssh://u@h2/system", (), "192.0.2.0/24")


def test_a_host_that_nobody_can_ask_is_unknown_not_sound() -> None:
    topology = local()
    hosts = (replace(topology.hosts[0], vms=REMOTE), *topology.hosts[1:])
    last = list(setting_checks([replace(topology, hosts=hosts)]))[-1]
    assert last.name.endswith("(unknown: all of h1, to which the study has no SSH login)")


def test_its_pressure_is_unknown_too(tmp_path: Path) -> None:
    asked = {"monitor.also": ["pressure"]}
    made = plan(**asked)
    remote = {
        name: replace(one, hosts=tuple(replace(host, vms=REMOTE) for host in one.hosts))
        for name, one in made.topologies.items()
    }
    planned = made.model_copy(update={"topologies": remote})
    acts = dict(acts_of(study(**asked), planned, tmp_path, "s/r"))
    (name,) = (one for one in acts if one.startswith("pressure"))
    assert name.endswith("(unknown of a host to which the study has no SSH login)")
    assert acts[name]() is None
