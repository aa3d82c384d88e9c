"""What `study run` prints while it runs: on a terminal, and in a file or a pipe."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from density_study.dags.cli.progress_display import PROVISIONAL, progress_display
from density_study.dags.run_status.progress import Ended, Progress
from density_study.jobs.first_look.look import FirstLook
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.study.study_file import parse_study
from tests.support import drafts
from tests.support.search_factory import probe_of

VALID = {"rate": 12_345.0, "rate_unit": "ops/s", "p99_ms": 2.2, "p99_of": "READ, closed-loop",
         "cpu_used_percent": 83.0, "cpu_iowait_percent": 2.0, "verdict": "valid"}  # fmt: skip
SEEN = Progress(
    study="s", run="r", state="running", elapsed_s=0.0, remaining_s=60.0, total=9, ended=()
)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return drafts.plan()


def looks(plan: Plan, **changed: object) -> dict[str, FirstLook]:
    return {
        str(one.trial): FirstLook(str(one.trial), **(VALID | changed))  # type: ignore[arg-type]
        for one in plan.trials
    }


def printed(plan: Plan, *progress: Progress, terminal: bool = False) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=140, color_system=None)
    with progress_display(console, plan) as show:
        for each in progress:
            show(each)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_an_ended_trial_keeps_a_line_with_its_numbers_and_verdict(
    plan: Plan, terminal: bool
) -> None:
    trial = plan.trials[0]
    seen = replace(SEEN, ended=(Ended(trial, "ok", "", 50.0),), looks=looks(plan))
    text = printed(plan, seen, seen, terminal=terminal)
    assert text.count("valid so far") == 1, "once, however often it is shown"
    line = next(line for line in text.splitlines() if "valid so far" in line)
    assert f"{trial.label} in 50 s · 12,345\N{NO-BREAK SPACE}ops/s" in line
    assert "p99 2.20\N{NO-BREAK SPACE}ms READ, closed-loop · CPU 83 % used, 2 % iowait" in line


def test_an_invalid_trial_is_followed_by_its_reasons(plan: Plan) -> None:
    bad = looks(plan, verdict="invalid", reasons=("3 operations failed",), flags=("drift",))
    seen = replace(SEEN, ended=(Ended(plan.trials[0], "ok", "", 50.0),), looks=bad)
    lines = printed(plan, seen).splitlines()
    at = next(number for number, line in enumerate(lines) if "invalid" in line)
    assert [line.strip() for line in lines[at + 1 : at + 3]] == ["3 operations failed", "drift"]


def test_a_failed_step_shows_its_message_and_a_skipped_one_no_numbers(plan: Plan) -> None:
    failed = Ended(plan.steps[0], "failed", "datanode died", 5.0)
    skipped = Ended(plan.trials[0], "skipped", "not built", 0.0)
    text = printed(plan, replace(SEEN, ended=(failed, skipped), looks=looks(plan)))
    assert "failed        step 1/9" in text and "datanode died" in text
    assert "skipped" in text and "ops/s" not in text


def test_without_a_terminal_a_line_every_ten_seconds(plan: Plan) -> None:
    running = replace(SEEN, current=plan.trials[0], activity="running", live="measured · 7 ops/s")
    quarters = (replace(running, elapsed_s=number / 4) for number in range(4 * 35 + 1))
    lines = printed(plan, *quarters).splitlines()
    assert lines[0].startswith("[        0 s] step ")
    assert lines[1:] == [f"[       {s} s]     measured · 7 ops/s" for s in (10, 20, 30)]


def test_a_step_without_numbers_is_not_silent_either(plan: Plan) -> None:
    up = replace(SEEN, current=plan.steps[0], activity="hdfs", activity_s=9.0, detail="0 of 2 live")
    lines = printed(plan, up, replace(up, elapsed_s=12.0)).splitlines()
    assert lines[1] == "[       12 s]     hdfs, 9 s: 0 of 2 live"


def test_the_terminal_shows_the_running_second(plan: Plan) -> None:
    seen = replace(SEEN, current=plan.trials[0], activity="running", live="measured · 7 ops/s · ▁█")
    assert "measured · 7 ops/s · ▁█" in printed(plan, seen, terminal=True)


@pytest.mark.parametrize("terminal", [True, False])
def test_a_table_of_all_trials_comes_before_the_analysis(plan: Plan, terminal: bool) -> None:
    analysing = replace(SEEN, stage="ingest", looks=looks(plan))
    text = printed(plan, analysing, replace(analysing, stage="metrics"), terminal=terminal)
    assert text.count(PROVISIONAL) == text.count("Throughput") == 1
    shown = [line for line in text.splitlines() if "1 valid so far" in line]
    wanted = {
        (str(one.test_case and one.test_case.id), plan.builds[one.build]) for one in plan.trials
    }
    assert len(shown) == len(wanted)
    assert all("12,345\N{NO-BREAK SPACE}ops/s" in line and "83.0" in line for line in shown)


def test_the_table_takes_no_numbers_from_invalid_trials(plan: Plan) -> None:
    analysing = replace(SEEN, stage="ingest", looks=looks(plan, verdict="invalid"))
    text = printed(plan, analysing)
    assert "1 invalid" in text and "ops/s" not in text


def test_several_builds_are_shown_by_their_median_and_one_is_not() -> None:
    text = drafts.QUICKSTART.read_text().replace("repetitions: 1", "repetitions: 3")
    plan = make_plan(parse_study(text, "q.yaml").study, [drafts.host()])
    rates = {1: 1000.0, 2: 1100.0, 3: 9000.0}
    found = {
        str(one.trial): replace(looks(plan)[str(one.trial)], rate=rates[one.repetition])
        for one in plan.trials
    }
    text = printed(plan, replace(SEEN, stage="ingest", looks=found))
    rows = [line for line in text.splitlines() if "3 valid so far" in line]
    assert rows and all("1,100\N{NO-BREAK SPACE}ops/s" in row for row in rows)
    assert "Throughput, median" in text
    first = {name: look for name, look in found.items() if "b1-" in name}
    assert "median" not in printed(plan, replace(SEEN, stage="ingest", looks=first))


def test_the_table_shows_a_search_by_its_answer() -> None:
    plan = searching("search: {max_rate: {read_p99: 20 ms}, probes: 5}")
    found = looks(plan)
    for step in (one for one in plan.trials if one.probe):
        look = found[str(step.trial)]
        loads = {1: (400, True), 2: (900, False), 3: (600, True), 4: (800, True), 5: (800, False)}
        load, kept = loads[step.probe or 0]  # 800/s was kept once, and rejected in a longer window
        probe = probe_of(step.probe or 0, load, kept)
        found[str(step.trial)] = replace(look, rate=float(load), probe=probe)
    text = printed(plan, replace(SEEN, stage="ingest", looks=found))
    rows = [line for line in text.splitlines() if "max-read" in line or "600" in line]
    assert any("600\N{NO-BREAK SPACE}ops/s" in row for row in rows)
    for other in (400, 800, 900):
        assert f"{other}\N{NO-BREAK SPACE}ops/s" not in text


def searching(search: str) -> Plan:
    text = drafts.QUICKSTART.read_text().replace("threads: [8]", f"threads: [8]\n      {search}")
    text = text.replace("[load, read45-insert55, scan95-insert5]", "[read45-insert55]")
    return make_plan(parse_study(text, "q.yaml").study, [drafts.host()])


def test_the_end_of_repetitions_is_told_once(plan: Plan) -> None:
    precise = replace(SEEN, precise="after 5 repetitions all 3 comparisons were precise enough")
    text = printed(plan, SEEN, precise, replace(precise, elapsed_s=99.0))
    assert text.count("after 5 repetitions all 3 comparisons were precise enough") == 1
