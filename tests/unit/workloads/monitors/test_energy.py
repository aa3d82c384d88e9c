"""The sampler of energy, and why a machine has none to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.machine.energy import IPMI, energy_fault, meter_w
from density_study.workloads.monitors.energy import METER, Energy
from tests.support.records.energy_counters import domain, meter

ANSWER = """
    Instantaneous power reading:                   214 Watts
    Minimum during sampling period:                  2 Watts
    Maximum during sampling period:                468 Watts
    Average power reading over sample period:      184 Watts
    IPMI timestamp:                           Thu Feb 15 09:37:32 2024
    Sampling period:                          00000001 Seconds.
    Power reading state is:                   activated
"""


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of programs."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def answering(programs: Path, text: str, code: int = 0) -> None:
    program = programs / IPMI[0]
    program.write_text(f"#!/bin/sh\necho '{text}'\nexit {code}\n")
    program.chmod(0o755)


def test_energy_is_of_packages_and_their_memory_and_outlives_a_new_start(tmp_path: Path) -> None:
    package = domain(tmp_path, "intel-rapl:0", "package-0", 900, range_uj=1000)
    memory = domain(tmp_path, "intel-rapl:0:1", "dram", 100)
    domain(tmp_path, "intel-rapl:1", "package-1", 7)
    for folder, name in {
        "intel-rapl:0:0": "core", "intel-rapl:2": "psys", "intel-rapl-mmio:0": "package-0",
    }.items():  # fmt: skip
        domain(tmp_path, folder, name, 5)
    energy = Energy(tmp_path, tmp_path)
    named = ("package-0", "package-0/dram", "package-1")
    assert energy.read() == {name: {"energy_uj": 0} for name in named}
    (package / "energy_uj").write_text("50\n")  # 150 later, beyond its range
    (memory / "energy_uj").write_text("130\n")
    found = energy.read()
    assert found["package-0"] == {"energy_uj": 150}
    assert found["package-0/dram"] == {"energy_uj": 30}
    (package / "energy_uj").write_text("60\n")
    assert energy.read()["package-0"] == {"energy_uj": 160}
    assert energy_fault(tmp_path, tmp_path) == ""


def test_a_power_meter_is_read_beside_the_counters_or_without_them(tmp_path: Path) -> None:
    meter(tmp_path / "hwmon", 187.5)
    assert energy_fault(tmp_path, tmp_path / "hwmon") == ""
    assert Energy(tmp_path, tmp_path / "hwmon").read() == {METER: {"power_uw": 187_500_000.0}}
    domain(tmp_path, "intel-rapl:0", "package-0", 900)
    assert set(Energy(tmp_path, tmp_path / "hwmon").read()) == {"package-0", METER}


def test_older_kernels_show_the_meter_in_its_device(tmp_path: Path) -> None:
    made = meter(tmp_path, 200.0)
    (made / "device").mkdir()
    for file in ("power1_average", "power1_average_interval"):
        (made / file).rename(made / "device" / file)
    assert meter_w(tmp_path) == 200.0


def test_a_meter_that_fails_once_leaves_a_gap_and_no_number(tmp_path: Path) -> None:
    made = meter(tmp_path, 200.0)
    energy = Energy(tmp_path, tmp_path)
    (made / "power1_average").write_text("\n")
    assert energy.read() == {}
    (made / "power1_average").unlink()
    assert energy.read() == {}
    meter(tmp_path, 210.0)
    assert energy.read() == {METER: {"power_uw": 210e6}}


def test_the_management_controller_is_asked_where_the_kernel_shows_no_meter(
    tmp_path: Path, programs: Path
) -> None:
    answering(programs, ANSWER)
    assert Energy(tmp_path, tmp_path).read() == {METER: {"power_uw": 214e6}}
    meter(tmp_path, 200.0)
    assert meter_w(tmp_path) == 200.0


@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        (ANSWER.replace("activated", "deactivated"), 0, "shows no power"),
        ("Could not open device at /dev/ipmi0", 1, "Could not open device"),
        (ANSWER.replace("214", "0"), 0, "0 W"),
        ("", 0, "nothing"),
    ],
)
def test_a_controller_without_a_power_is_refused(
    text: str, code: int, why: str, tmp_path: Path, programs: Path
) -> None:
    answering(programs, text, code)
    fault = energy_fault(tmp_path, tmp_path)
    assert "has no package" in fault and why in fault
    assert Energy(tmp_path, tmp_path).read() == {}


def test_a_meter_that_cannot_show_a_trial_is_refused(tmp_path: Path) -> None:
    meter(tmp_path, 200.0, interval_ms=300_000)
    assert "mean of 300 s" in energy_fault(tmp_path, tmp_path)
    meter(tmp_path, 4_294_967.295)  # as some firmware shows it
    assert "not a machine's power" in energy_fault(tmp_path, tmp_path)
    meter(tmp_path, 200.0)
    meter(tmp_path, 200.0, number=1)
    assert "2 power meters" in energy_fault(tmp_path, tmp_path)


def test_a_machine_without_energy_counters_says_why(tmp_path: Path) -> None:
    fault = energy_fault(tmp_path, tmp_path)
    assert "has no package" in fault and f"no {IPMI[0]}" in fault
    package = domain(tmp_path, "intel-rapl:0", "package-0", 900)
    (package / "energy_uj").unlink()
    assert "energy_uj" in energy_fault(tmp_path, tmp_path)


def test_a_counter_that_shows_no_number_is_named(tmp_path: Path) -> None:
    shown = meter(tmp_path, 200.0) / "power1_average"
    shown.chmod(0o644)
    shown.write_text("\n")
    assert f"{shown} shows '', which is not a number" in energy_fault(tmp_path, tmp_path)
