"""Live view of a running trial, from incomplete files with torn lines."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.dags.run_status.live import BARS, LiveTrial, nodes_cpu, sample, sparkline
from density_study.dags.run_status.progress import Ended, Progress
from density_study.workloads.base.values import FIRST_TURN_AFTER_S
from density_study.workloads.monitors.nodecpu import HEADER, title
from density_study.workloads.planning.duet import turns_of
from density_study.workloads.planning.plan import Step, make_plan, read_plan
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support import drafts
from tests.support.made_runs.fake_cluster import DUET
from tests.support.records.factory import RUN, RunFactory

SAMPLES = Path(__file__).parents[3] / "samples"
STATUS = (SAMPLES / "ycsb-0.17.0_hdr.err").read_text()
DOOL = (SAMPLES / "dool-1.3.8.csv").read_text()
TRIAL = "b1-v1-flash-000-ycsb-c"
NOW = 1_800_000_000.0


def opened(records: Path, folder: str = "raw", status: str = STATUS, dool: str = DOOL) -> Path:
    """A record being written: its files are of this moment."""
    record = records / f"{TRIAL}.open"
    for name in (folder, "monitor"):
        (record / name).mkdir(parents=True, exist_ok=True)
    err = record / folder / "ycsb-1.err"
    err.write_text(status)
    monitor = record / "monitor" / "h1.dool.csv"
    monitor.write_text(dool)
    for file in (err, monitor):
        os.utime(file, (NOW, NOW))
    return record


def step(**timed: float) -> Step:
    test_case = YcsbTestCase(mix="c", records=1000, threads=4, duration_s=30.0, **timed)
    return Step(
        index=1, kind="trial", repetition=1, build="b1-v1-flash", label="trial", estimate_s=10,
        trial=TRIAL, test_case=test_case,
    )  # fmt: skip


STEP = step()


def shown(current: Step | None, *ended: Ended, activity: str = "running") -> Progress:
    return Progress(
        study="s", run="r", state="running", elapsed_s=1, remaining_s=1, total=3,
        ended=ended, current=current, activity=activity,
    )  # fmt: skip


def live(records: Path) -> LiveTrial:
    return LiveTrial(drafts.study(), drafts.plan(), records)


def test_rate_p99_and_cpu_come_from_the_last_complete_lines(tmp_path: Path) -> None:
    torn = "2026-11-20 17:20:29:521 1 sec: 99999 oper"
    latest = sample(opened(tmp_path, status=STATUS + torn), NOW, "raw", 1.0)
    assert latest.ops_s == 3369.68
    assert latest.p99 is not None and (latest.p99.name, latest.p99.p99_us) == ("READ", 2233)
    last = DOOL.splitlines()[-1].split(",")
    columns = [line for line in DOOL.splitlines() if line.startswith('"epoch","time"')][-1].split(
        ","
    )
    at = {name.strip('"'): index for index, name in reversed(list(enumerate(columns)))}
    assert latest.cpu_used_percent == pytest.approx(
        100 - sum(float(last[at[name]]) for name in ("idl", "wai", "stl"))
    )


def test_rates_of_two_clients_are_added_and_an_ended_one_is_left_out(tmp_path: Path) -> None:
    record = opened(tmp_path)
    other = record / "raw" / "ycsb-2.err"
    other.write_text(STATUS)
    os.utime(other, (NOW, NOW))
    assert sample(record, NOW, "raw", 1.0).ops_s == pytest.approx(2 * 3369.68)
    os.utime(other, (NOW - 60, NOW - 60))
    assert sample(record, NOW, "raw", 1.0).ops_s == pytest.approx(3369.68)


def test_a_monitor_that_has_died_shows_nothing(tmp_path: Path) -> None:
    """Its last row was shown as the newest second to the end of the trial."""
    record = opened(tmp_path)
    shown = sample(record, NOW, "raw", 1.0)
    assert shown.cpu_used_percent and shown.disk_mib_s is not None
    for later_s, period_s, is_known in ((4, 1.0, True), (6, 1.0, False), (6, 2.0, True)):
        found = sample(record, NOW + later_s, "raw", period_s)
        assert (found.cpu_used_percent is not None) == is_known
    other = record / "monitor" / "h2.dool.csv"
    other.write_text(DOOL)
    os.utime(other, (NOW - 60, NOW - 60))
    found = sample(record, NOW, "raw", 1.0)
    assert found.cpu_used_percent == shown.cpu_used_percent and found.disk_mib_s is None


def test_disks_that_a_monitor_does_not_show_are_no_zero(tmp_path: Path) -> None:
    found = sample(opened(tmp_path, dool=DOOL.replace("dsk/total", "dsk/sda")), NOW, "raw", 1.0)
    assert found.cpu_used_percent is not None and found.disk_mib_s is None


def test_a_record_that_is_closed_while_it_is_read_shows_what_is_left(tmp_path: Path) -> None:
    record = opened(tmp_path)
    gone = record / "raw" / "ycsb-2.err"
    gone.symlink_to(record / "moved-away")  # listed, and gone before it is read
    assert (
        sample(record, NOW, "raw", 1.0).ops_s
        == sample(opened(tmp_path / "other"), NOW, "raw", 1.0).ops_s
    )


def test_files_without_samples_show_nothing(tmp_path: Path) -> None:
    assert live(tmp_path).added_to(shown(STEP), NOW).live == ""
    opened(tmp_path, status="", dool='"dool 1.3.8 CSV output"\n')
    assert live(tmp_path).added_to(shown(STEP), NOW).live == ""


def test_dools_first_row_is_a_mean_since_boot_and_is_not_shown(tmp_path: Path) -> None:
    end = DOOL.index("\n", DOOL.index('"epoch","time"')) + 1
    record = opened(tmp_path, dool=DOOL[: DOOL.index("\n", end) + 1])
    assert sample(record, NOW, "raw", 1.0).cpu_used_percent is None


def test_the_line_shows_rate_latency_cpu_and_a_bar_per_second(tmp_path: Path) -> None:
    opened(tmp_path)
    of = live(tmp_path)
    of.added_to(shown(STEP), NOW)
    assert of.added_to(shown(STEP), NOW + 0.2).live == of.added_to(shown(STEP), NOW + 0.4).live
    line = of.added_to(shown(STEP), NOW + 1.0).live
    assert line.startswith("measured · 3,370 ops/s · READ p99 2.2 ms · CPU ")
    assert line.endswith(" · " + BARS[-1] * 2)
    assert of.added_to(shown(None), NOW + 1.1).live == ""


@pytest.mark.parametrize("cut", [{"warm_up_s": 5.0}, {"warm_up_client_s": 20.0, "warm_up_s": 5.0}])
def test_seconds_that_are_cut_from_the_results_are_marked(
    tmp_path: Path, cut: dict[str, float]
) -> None:
    opened(tmp_path)
    assert live(tmp_path).added_to(shown(step(**cut)), NOW).live.startswith("warm-up · 3,370 ops/s")


@pytest.mark.parametrize("number", [0, 1])
def test_a_trials_ramp_up_takes_its_own_turns_only(tmp_path: Path, number: int) -> None:
    """Each of two trials at once works half of the time, from a second after their common start on."""
    text = DUET.replace("warm_up: 2 s", "warm_up: 5 s")
    study = parse_study(text, "d.yaml").study
    plan = make_plan(study, [drafts.host(8192)])
    first, second = plan.trials[:2]
    turns = turns_of(plan, study, first, second)[number].own
    (begin_s, end_s), (again_s, _), *_ = turns
    over_s = begin_s + 5 if end_s - begin_s > 5 else again_s + 5 - (end_s - begin_s)
    of, step = LiveTrial(study, plan, tmp_path), (first, second)[number]
    raw = tmp_path / f"{step.trial}.open" / "raw"
    raw.mkdir(parents=True)
    (*_, row) = (line for line in STATUS.splitlines() if " 0 sec: " in line)
    for elapsed_s, phase in ((over_s, "warm-up"), (over_s + FIRST_TURN_AFTER_S, "measured")):
        (raw / "ycsb-1.err").write_text(row.replace(" 0 sec: ", f" {elapsed_s:.0f} sec: ") + "\n")
        os.utime(raw / "ycsb-1.err", (NOW + elapsed_s, NOW + elapsed_s))
        assert of.added_to(shown(step), NOW + elapsed_s).live.startswith(f"{phase} · 3,370")


def test_a_client_that_still_warms_up_has_no_rate(tmp_path: Path) -> None:
    opened(tmp_path, status="Loading workload...\n")
    line = live(tmp_path).added_to(shown(step(warm_up_client_s=20.0)), NOW).live
    assert line.startswith("warm-up · CPU ")


def test_clients_that_prepare_a_trial_are_no_measurement(tmp_path: Path) -> None:
    opened(tmp_path, "logs")
    of = live(tmp_path)
    assert of.added_to(shown(STEP, activity="preparing"), NOW).live.startswith("warm-up · 3,370")
    assert of.added_to(shown(STEP, activity="settling"), NOW + 1).live.startswith("settling · ")
    line = of.added_to(shown(STEP), NOW + 2).live
    assert line.startswith("measured · CPU ") and "3,370" not in line
    assert line.endswith(" · " + BARS[0]), "the bars of another quantity are gone"


def test_cpu_of_nodes_is_that_of_the_last_round(tmp_path: Path) -> None:
    file = tmp_path / "monitor" / "h1.nodecpu.csv"
    file.parent.mkdir()
    rows = [title("h1", 100, 2), HEADER]
    rows += [f"{1795200000 + second}.0,w1,{50 * second},{30 * second},9" for second in range(200)]
    rows += ["1795200200.0,w1,10050,6050,9", "1795200200.0,m1,5,5,1"]
    file.write_text("\n".join(rows) + "\n1795200201.0,w1,100")
    os.utime(file, (NOW, NOW))
    assert nodes_cpu(tmp_path, NOW, 1.0) == "w1 90 %"
    assert nodes_cpu(tmp_path, NOW + 6, 1.0) == ""
    file.write_text("")
    os.utime(file, (NOW, NOW))
    assert nodes_cpu(tmp_path, NOW, 1.0) == ""


def test_a_sparkline_starts_at_zero() -> None:
    assert sparkline([0, 50, 100]) == BARS[0] + BARS[4] + BARS[7]
    assert sparkline([0.0, 0.0]) == BARS[0] * 2


def test_ended_trials_get_a_first_look_once_and_earlier_ones_before_the_analysis(
    tmp_path: Path,
) -> None:
    factory = RunFactory(tmp_path / RUN)
    first, second = (factory.ycsb("b1-v1-flash", threads=threads) for threads in (4, 8))
    root = factory.close()
    plan = read_plan(root / "plan.json")
    of = LiveTrial(drafts.study(), plan, root / "records")
    ended = Ended(plan.steps[0], "ok", "", 3.0)
    assert set(of.added_to(shown(None, ended), NOW).looks) == {first.trial}
    stage = replace(shown(None, ended), stage="ingest")
    looks = of.added_to(stage, NOW).looks
    assert set(looks) == {first.trial, second.trial}
    assert of.added_to(stage, NOW).looks[first.trial] is looks[first.trial]
