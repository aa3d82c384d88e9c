"""Live view of a running trial, from incomplete files with torn lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from dags.run_status.live import BARS, LiveTrial, first_number, sample, sparkline
from dags.run_status.progress import Ended, Progress
from workloads.planning.plan import Step

SAMPLES = Path(__file__).parents[2] / "samples"
STATUS = (SAMPLES / "ycsb-0.17.0_hdr.err").read_text()
DOOL = (SAMPLES / "dool-1.3.8.csv").read_text()
TRIAL = "b1-v1-flash-000-ycsb-c"
STEP = Step(
    index=1,
    kind="trial",
    repetition=1,
    build="b1-v1-flash",
    label="trial",
    estimate_s=10,
    trial=TRIAL,
)


def opened(records: Path, status: str = STATUS, dool: str = DOOL) -> Path:
    record = records / f"{TRIAL}.open"
    (record / "logs").mkdir(parents=True)
    (record / "monitor").mkdir()
    (record / "logs" / "ycsb-1.err").write_text(status)
    (record / "monitor" / "h1.dool.csv").write_text(dool)
    return record


def shown(current: Step | None, *ended: Ended) -> Progress:
    return Progress(
        study="s", run="r", state="running", started_t=0, elapsed_s=1, remaining_s=1, total=3,
        ended=ended, current=current,
    )  # fmt: skip


def test_rate_p99_and_cpu_come_from_the_last_complete_lines(tmp_path: Path) -> None:
    latest = sample(opened(tmp_path, STATUS + "2026-11-20 17:20:29:521 1 sec: 99999 oper"))
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


def test_rates_of_two_clients_are_added(tmp_path: Path) -> None:
    record = opened(tmp_path)
    (record / "logs" / "ycsb-2.err").write_text(STATUS)
    assert sample(record).ops_s == pytest.approx(2 * 3369.68)


def test_files_without_samples_show_nothing(tmp_path: Path) -> None:
    assert LiveTrial(tmp_path).added_to(shown(STEP), 10.0).live == ""
    opened(tmp_path, "", '"dool 1.3.8 CSV output"\n')
    assert LiveTrial(tmp_path).added_to(shown(STEP), 10.0).live == ""


def test_the_line_shows_rate_latency_cpu_and_a_bar_per_second(tmp_path: Path) -> None:
    opened(tmp_path)
    live = LiveTrial(tmp_path)
    live.added_to(shown(STEP), 10.0)
    assert live.added_to(shown(STEP), 10.2).live == live.added_to(shown(STEP), 10.4).live
    line = live.added_to(shown(STEP), 11.0).live
    assert line.startswith("measuring · 3,370 ops/s · READ p99 2.2 ms · CPU ")
    assert line.endswith(" · " + BARS[-1] * 2)
    assert live.added_to(shown(None), 11.1).live == ""


def test_a_sparkline_starts_at_zero() -> None:
    assert sparkline([0, 50, 100]) == BARS[0] + BARS[4] + BARS[7]
    assert sparkline([0.0, 0.0]) == BARS[0] * 2


def test_an_ended_trial_shows_its_tools_number_and_a_damaged_one_shows_none(tmp_path: Path) -> None:
    raw = tmp_path / TRIAL / "raw"
    raw.mkdir(parents=True)
    (raw / "ycsb-1.out").write_bytes((SAMPLES / "ycsb-0.17.0_hdr.out").read_bytes())
    number = first_number(tmp_path / TRIAL)
    assert number.endswith(" ops/s") and float(number.split()[0].replace(",", "")) > 0
    ended = LiveTrial(tmp_path).added_to(shown(None, Ended(STEP, "ok", "", 3.0)), 1.0)
    assert ended.numbers == {TRIAL: number}
    (raw / "ycsb-1.out").write_text("no summary\n")
    assert first_number(tmp_path / TRIAL) == ""
