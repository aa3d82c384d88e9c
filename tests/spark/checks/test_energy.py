"""Energy from a machine's counters to the report: joules for each operation, where the power is known.

The real sampler reads counters that rise by a known energy, and wrap several times in a trial; its files are
analysed like every record's.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from density_study.jobs import pipeline
from density_study.workloads.monitors.device_sampler import rows
from density_study.workloads.monitors.devices import HOST, devices, header, title
from density_study.workloads.monitors.energy import Energy
from tests.spark.support import oracle
from tests.support.records.energy_counters import Counting, meter
from tests.support.records.factory import RUN, RunFactory
from tests.support.truth import MIB, Truth

pytestmark = pytest.mark.spark

BUILDS, SHARES = 5, (1.0, 1.04, 0.97, 1.02, 0.99)
"""Power of each build over that of the first."""
PERIOD_S, SWING, RAMP_UP_W = 5.0, 0.3, 150.0
PACKAGES = {"intel-rapl:0": ("package-0", 80.0), "intel-rapl:1": ("package-1", 55.0)}
MEMORY = {"intel-rapl:0:1": ("dram", 12.0), "intel-rapl:1:0": ("dram", 9.0)}
# a part of a package, all of it once more, and the same by another way
COUNTED_ELSEWHERE = {"intel-rapl:0:0": ("core", 60.0), "intel-rapl:2": ("psys", 170.0),
                     "intel-rapl-mmio:0": ("package-0", 80.0)}  # fmt: skip
HOST_W = 310.0
WITHIN = 0.02


def package_j(watts: float, ramp_up_s: float) -> Callable[[float], float]:
    """Energy of a package whose power swings, and which needs more while it warms up."""
    turn = 2 * pi / PERIOD_S

    def joules(seconds: float) -> float:
        swung = SWING * watts / turn * (1 - cos(turn * seconds))
        return watts * seconds + swung + RAMP_UP_W * min(seconds, ramp_up_s)

    return joules


@dataclass(frozen=True)
class Power:
    """What a host uses, and the folders in which it shows this."""

    folder: Path
    truth: Truth
    share: float = 1.0

    def joules(self) -> dict[str, tuple[str, Callable[[float], float]]]:
        until_warm_s = self.truth.measured_from_s - self._since_s
        named = {}
        for folder, (name, watts) in {**PACKAGES, **MEMORY, **COUNTED_ELSEWHERE}.items():
            power = self.share * watts
            swings = folder in PACKAGES
            named[folder] = name, package_j(power, until_warm_s) if swings else self._steady(power)
        return named

    @staticmethod
    def _steady(watts: float) -> Callable[[float], float]:
        return lambda seconds: watts * seconds

    @property
    def _since_s(self) -> float:
        return self.truth.start_s - 4.0

    def sampled(self, host: str) -> str:
        """The device's file. 3 kJ are a counter's range: 20 s of a package."""
        counting = Counting(self.folder / "powercap", self.joules(), 3_000_000_000, 2_900_000_000)
        meter(self.folder / "hwmon", self.share * HOST_W)
        counting.at(0.0)
        energy, columns = (
            Energy(counting.powercap, self.folder / "hwmon"),
            devices()["energy"].columns,
        )
        text = f"{title(host, 'energy')}\n{header(columns)}\n"
        for second in range(int(self.truth.window_s) + 7):
            counting.at(second)
            text += rows(self._since_s + second, columns, energy.read())
        return text

    @property
    def watts(self) -> float:
        """Mean of the measured part: packages and their memory, each once."""
        named = self.joules()
        begin_s, end_s = (t - self._since_s for t in (self.truth.measured_from_s, self.truth.end_s))
        counted = [named[folder][1] for folder in (*PACKAGES, *MEMORY)]
        return sum(joules(end_s) - joules(begin_s) for joules in counted) / (end_s - begin_s)


def silent(truth: Truth, host: str, folder: Path) -> str:
    """The file of a host without counters."""
    columns = devices()["energy"].columns
    read = Energy(folder / "powercap", folder / "hwmon").read
    samples = (
        rows(truth.start_s - 4.0 + second, columns, read() or {HOST: {}})
        for second in range(int(truth.window_s) + 7)
    )
    return f"{title(host, 'energy')}\n{header(columns)}\n" + "".join(samples)


@dataclass(frozen=True)
class Analysed:
    summary: dict[str, Any]
    page: str
    trials: dict[str, Truth]
    powers: dict[str, Power]

    def entry(self, case: str) -> dict[str, Any]:
        """The metrics of a case's test case, by name; of a host, by name and host."""
        of = self.trials[case]
        topology = of.trial.split("-", 1)[1].rsplit("-", 1)[0]
        (found,) = (
            one for one in self.summary["test_cases"]
            if one["test_case"] == of.test_case.id and topology.startswith(one["topology"])
        )  # fmt: skip
        return {
            f"{one['name']} {one['scope']}" if one["scope"] else one["name"]: one
            for one in found["metrics"] if not one["operation"]
        }  # fmt: skip

    def flags(self, case: str) -> str:
        (trial,) = (
            one for one in self.summary["trials"] if one["trial"] == self.trials[case].trial
        )
        assert trial["verdict"] == "valid", trial["reasons"]
        return "; ".join(trial["reasons"])


@pytest.fixture(scope="module")
def energy(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Analysed:
    folder = tmp_path_factory.mktemp("energy")
    factory = RunFactory(
        folder / "runs" / "quickstart" / RUN, **{"repetitions": BUILDS, "monitor.also": ["energy"]}
    )
    trials, powers = {}, {}

    def watched(case: str, truth: Truth, share: float = 1.0) -> None:
        powers[case] = Power(folder / case, truth, share)
        trials[case] = truth
        truth.devices["here", "energy"] = powers[case].sampled("here")

    for number, share in enumerate(SHARES, 1):
        truth = factory.ycsb(f"b{number}-v1-flash", rate=300 + 5 * number, records=6_000)
        watched(f"mixed-{number}", truth, share)
    watched("write", factory.dfsio("b1-v1-flash", "write"))
    watched("both", factory.ycsb("b1-v2-flash", "scan95-insert5", rate=100))
    powers["there"] = Power(folder / "there", trials["both"], 0.5)
    trials["both"].devices["there", "energy"] = powers["there"].sampled("there")
    watched("half", factory.ycsb("b2-v2-flash", rate=100))
    half, none = trials["half"], factory.ycsb("b1-v2-flash", "load", rate=100)
    half.devices["there", "energy"] = silent(half, "there", folder / "silent")
    none.devices["here", "energy"] = silent(none, "here", folder / "silent")
    root = factory.close()
    pipeline.analyse(root)
    summary = json.loads((root / "report" / "summary.json").read_text())
    page = (root / "report" / "index.html").read_text()
    return Analysed(summary, page, {**trials, "none": none}, powers)


def test_joules_of_an_operation_are_known_within_2_percent_in_each_build_and_as_a_whole(
    energy: Analysed,
) -> None:
    expected = []
    for number in range(1, BUILDS + 1):
        case = f"mixed-{number}"
        expected.append(energy.powers[case].watts / oracle.operations_s(energy.trials[case]))
    found = energy.entry("mixed-1")["energy_per_operation"]
    assert found["points"] == pytest.approx(expected, rel=WITHIN)
    assert found["value"] == pytest.approx(sorted(expected)[BUILDS // 2], rel=WITHIN)
    assert (found["unit"], found["n"]) == ("J", BUILDS)
    assert found["low"] < sum(expected) / BUILDS < found["high"]
    assert "energy for each operation" in energy.page


def test_the_power_of_the_whole_host_is_apart_from_that_of_its_packages(energy: Analysed) -> None:
    metrics, rate = energy.entry("mixed-1"), oracle.operations_s(energy.trials["mixed-1"])
    assert metrics["power host:here"]["points"][0] == pytest.approx(
        energy.powers["mixed-1"].watts, rel=WITHIN
    )
    assert metrics["host_power host:here"]["points"][0] == pytest.approx(HOST_W)
    assert metrics["host_energy_per_operation"]["points"][0] == pytest.approx(HOST_W / rate)


def test_a_job_has_joules_of_a_mib(energy: Analysed) -> None:
    metrics, truth = energy.entry("write"), energy.trials["write"]
    mib_s = sum(size for size, _ in truth.streams) / MIB / (truth.job[1] - truth.job[0])
    assert metrics["throughput_job"]["value"] == pytest.approx(mib_s)
    expected = energy.powers["write"].watts / mib_s
    assert metrics["energy_per_mib"]["value"] == pytest.approx(expected, rel=WITHIN)


def test_the_hosts_of_a_cluster_are_added(energy: Analysed) -> None:
    watts = energy.powers["both"].watts + energy.powers["there"].watts
    expected = watts / oracle.operations_s(energy.trials["both"])
    found = energy.entry("both")["energy_per_operation"]["value"]
    assert found == pytest.approx(expected, rel=WITHIN)
    assert "energy" not in energy.flags("both")


def test_a_cluster_of_which_one_host_has_no_counters_has_no_total_and_says_so(
    energy: Analysed,
) -> None:
    metrics = energy.entry("half")
    assert metrics["power host:here"]["value"] == pytest.approx(
        energy.powers["half"].watts, rel=WITHIN
    )
    assert metrics["power host:there"]["value"] is None
    assert metrics["energy_per_operation"]["value"] is None
    assert metrics["host_energy_per_operation"]["value"] is None
    reason = "energy: power of packages and memory of there; power of the whole machine of there is unknown"
    assert reason in energy.flags("half")
    assert reason in energy.page


def test_a_host_without_counters_has_no_number_and_says_so(energy: Analysed) -> None:
    metrics = energy.entry("none")
    assert metrics["energy_per_operation"]["value"] is None
    assert metrics["power host:here"]["points"] == []
    assert "energy: power of packages and memory of here is unknown" in energy.flags("none")
