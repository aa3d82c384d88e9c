"""`study capacity fit|check|explain`: their output, and their errors for wrong arguments."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from density_study.analysis.capacity.accuracy.hold_out import hold_out
from density_study.analysis.capacity.curves.explain import explain, surface_of
from density_study.analysis.capacity.inputs.points import read_points
from density_study.cluster.model.errors import InputError
from density_study.dags.cli import main
from tests.unit.analysis.capacity.planning import plan

HEAD = "group,hosts,vms_per_host,disk_type,value,unit,repetition\n"
HOSTS = (1, 2, 4, 8, 12)


def rows(group: str, hosts: tuple[int, ...] = HOSTS, unit: str = "s") -> str:
    """A job with 5 % of serial work; a rate is inverted."""
    csv = ""
    for n in hosts:
        for repetition, off in enumerate((0.99, 1.0, 1.01), 1):
            value = (50 + 950 / n) * off
            shown = value if unit == "s" else 1e5 / value
            csv += f"{group},{n},1,flash,{shown:.4f},{unit},{repetition}\n"
    return csv


def ran(*arguments: str) -> str:
    result = CliRunner().invoke(main.app, ["capacity", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


@pytest.fixture
def points(tmp_path: Path) -> Path:
    path = tmp_path / "points.csv"
    text = HEAD + rows("sort") + rows("scan", unit="ops/s") + rows("short", (1, 2))
    path.write_text(text)
    return path


def line(output: str, *words: str) -> str:
    """The one line that contains all words."""
    (matching,) = [
        candidate for candidate in output.splitlines() if all(word in candidate for word in words)
    ]
    return matching


def test_check_reports_each_group_and_names_its_exclusions(points: Path) -> None:
    by_group = ran("check", str(points)).split("by group")[1].split("largest misses")[0]
    assert line(by_group, "sort", "flash", "9 of 9")
    assert line(by_group, "scan", "flash", "9 of 9")
    excluded = line(ran("check", str(points)), "not used")
    assert "short on flash, 1 VMs per host: host counts 1, 2: 4 or more are needed" in excluded


def test_check_shows_rates_as_rates(points: Path) -> None:
    worst = ran("check", str(points)).split("largest misses")[1]
    row = re.split(r"\s{2,}", line(worst, "scan", " 4 ").strip())
    measured, low, high = float(row[4]), *(float(part) for part in row[6].split(" to "))
    assert row[7] == "ops/s"
    assert measured == pytest.approx(1e5 / (50 + 950 / 4), rel=0.01)
    assert low < measured < high


def test_the_baseline_starts_from_the_nearest_count(points: Path) -> None:
    predictions = {
        (m.group, m.hosts): m.one_over_n_s for m in hold_out(read_points(points), "hosts")
    }
    # 8 lies nearer to 12 than to 4; 4 as near to 2 as to 8, and the larger is taken.
    assert predictions["sort", 8] == pytest.approx((50 + 950 / 12) * 12 / 8, rel=0.01)
    assert predictions["sort", 4] == pytest.approx((50 + 950 / 8) * 8 / 4, rel=0.01)


def test_fit_names_a_file_that_is_not_a_run(points: Path) -> None:
    with pytest.raises(InputError, match="a file, not the folder of a run") as caught:
        ran("fit", str(points))
    assert f"--points {points}" in caught.value.remedy


def test_names_of_two_files_that_differ_in_case_alone_are_refused(tmp_path: Path) -> None:
    first, later = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text(HEAD + rows("sort"))
    later.write_text(HEAD + rows("scan").replace("flash", "Flash"))
    with pytest.raises(InputError, match=r"disk_type is 'Flash', and 'flash' in .*a\.csv, line 2"):
        ran("fit", "--points", str(first), "--points", str(later), "-o", str(tmp_path / "m.json"))


@pytest.mark.thorough
def test_check_names_a_plan_and_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(plan().model_dump_json())
    with pytest.raises(InputError, match="a plan from study capacity size, not a model") as caught:
        ran("check", str(path))
    assert "model" in caught.value.remedy
    with pytest.raises(InputError, match="a folder, not a model") as caught:
        ran("check", str(tmp_path))
    assert f"study capacity fit {tmp_path}" in caught.value.remedy


def test_fit_warns_about_a_cliff(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    spilled = [f"sort,1,1,flash,{value},s,{n}" for n, value in enumerate((2990, 3000, 3010), 1)]
    path.write_text(HEAD + "\n".join(spilled) + "\n" + rows("sort", HOSTS[1:]))
    output = " ".join(ran("fit", "--points", str(path), "-o", str(tmp_path / "m.json")).split())
    assert (
        "sort on flash, 1 VMs per host: from 1 to 2 hosts, work time falls by a factor of 5.7"
        in output
    )
    assert "use at least that many" in output


def test_the_output_of_explain_can_be_verified_by_hand(points: Path) -> None:
    output = ran("explain", str(points), "--group", "sort", "--count", "6")
    shown = re.findall(r"^(\d+) +3 +([0-9.]+) ", output, re.M)
    levels = [np.log(float(level)) for _, level in shown]
    assert [int(n) for n, _ in shown] == list(HOSTS)
    assert np.exp(levels) == pytest.approx([50 + 950 / n for n in HOSTS], rel=1e-3)
    middle = float(line(output, "u = hosts /").split("/")[1])
    assert middle == pytest.approx(np.prod(HOSTS) ** (1 / 5), rel=1e-3)
    law = next(
        text
        for text in output.splitlines()
        if text.strip().startswith("universal") and "a =" in text
    )
    a, c, _, time_s = (float(text) for text in re.findall(r"[0-9.]+(?:e-?\d+)?", law))

    def by_hand(n: float) -> float:
        return float(np.log(a + (1 - a - c) / (n / middle) + c * n / middle))

    shift = np.mean(levels) - np.mean([by_hand(n) for n in HOSTS])
    assert time_s == pytest.approx(np.exp(by_hand(6) + shift), rel=1e-3)
    half = np.prod([float(factor) for factor in re.findall(r"([0-9.]+) x ([0-9.]+)", output)[0]])
    predicted = float(re.findall(r"T = ([0-9.]+) s$", output, re.M)[0])
    low, high = re.findall(r"half width\) = ([0-9.]+) to ([0-9.]+) s", output)[0]
    assert float(low) == pytest.approx(predicted * np.exp(-half), rel=2e-3)
    assert float(high) == pytest.approx(predicted * np.exp(half), rel=2e-3)


def test_explain_refuses_a_number_that_the_points_do_not_support(tmp_path: Path) -> None:
    """Repetitions that differ by a factor of three leave more than 15 % open."""
    path = tmp_path / "points.csv"
    wild = [f"{group},{n},1,flash,{950 / n * off:.4f},{unit},{repetition}"
            for group, unit in (("wild", "s"), ("wild-rate", "ops/s")) for n in HOSTS
            for repetition, off in enumerate((0.55, 1.0, 1.7), 1)]  # fmt: skip
    path.write_text(HEAD + "\n".join(wild) + "\n")
    for group in ("wild", "wild-rate"):
        command = ["capacity", "explain", str(path), "--group", group, "--count", "6"]
        result = CliRunner().invoke(main.app, command)
        assert result.exit_code == 1
        assert "no number: these points leave -" in result.output
        assert "more than 15%" in " ".join(result.output.split())
        facts = json.loads(CliRunner().invoke(main.app, [*command, "--json"]).output)
        assert facts["time_s"] is None and facts["low_s"] < facts["high_s"] / 1.5
        assert re.search(r"as a rate: [0-9.]+ to [0-9.]+ ops/s", result.output) or group == "wild"


def test_explain_refuses_a_number_far_from_the_measured_counts(tmp_path: Path) -> None:
    """Exact levels make every interval narrow, and three counts, or a gap of 16, still show no law."""
    path = tmp_path / "points.csv"
    path.write_text(HEAD + rows("few", (2, 4, 8)) + rows("gap", (2, 4, 8, 128)))
    wanted = {("few", 6): 1, ("few", 8): 0, ("gap", 6): 0, ("gap", 32): 1, ("gap", 128): 0}
    for (group, count), code in wanted.items():
        command = ["capacity", "explain", str(path), "--group", group, "--count", str(count)]
        result = CliRunner().invoke(main.app, command)
        assert result.exit_code == code, (group, count, result.output)
        refused = "needs 4 measured ones, and on each side one within a factor of 2"
        assert (refused in " ".join(result.output.split())) == bool(code)


def test_explain_weighs_every_law_and_names_missing_data(points: Path) -> None:
    measured = read_points(points)
    explanation = explain(surface_of(measured, "sort", ""), 1, 6)
    assert 0.5 < sum(row.weight for row in explanation.shapes) <= 1.0 + 1e-9
    with pytest.raises(InputError, match="no group 'sorting'") as caught:
        surface_of(measured, "sorting", "")
    assert "scan, short, sort" in caught.value.remedy
    with pytest.raises(InputError, match="was not measured on 'hdd'"):
        surface_of(measured, "sort", "hdd")
    with pytest.raises(InputError, match="no curve over hosts at 1 VMs"):
        explain(surface_of(measured, "short", ""), 1, 2)
    with pytest.raises(InputError, match="beyond the forecast") as caught:
        explain(surface_of(measured, "sort", ""), 1, 19)
    assert caught.value.remedy == "name at most 18."
