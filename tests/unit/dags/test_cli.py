"""The `study` command without Airflow: help, plan, status, errors, speed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from density_study.analysis.findings.outlook import AtNoise, Outlook
from density_study.analysis.report.formats import FORMATS
from density_study.cluster.model.errors import BringUpError, InputError
from density_study.cluster.providers.simulated import rehearsal
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner
from density_study.dags.airflow_home.home import project_root
from density_study.dags.cli import console, main
from density_study.dags.cli.plan_page import _cells as cells
from density_study.dags.cli.watch import command as watch_command
from density_study.dags.run_status.plain_console import PlainConsole
from density_study.workloads.base.quantity import duration, seconds
from density_study.workloads.execution import run as runs
from density_study.workloads.execution.opening import open_run
from density_study.workloads.planning import planned_study
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.study.shipped import study_path
from tests.support.made_runs.command import STUDY, spec, study
from tests.support.summary_factory import one_block

__all__ = ["spec"]  # the fixture


def test_help_shows_examples() -> None:
    text = study("--help")
    for command in ("run", "plan", "list", "status", "report", "reap"):
        assert f"study {command}" in text


def test_windows_are_a_part_of_the_time_on_hosts_of_any_size() -> None:
    found = re.search(r"of which windows (\d+)%", study("plan", "talk-2013"))
    assert found and 40 <= int(found[1]) <= 95


@pytest.mark.parametrize("name", ("collectors", "upgrade"))
def test_a_preset_measures_for_most_of_its_time(name: str) -> None:
    found = re.search(r"about (\d+) min.*, of which windows (\d+)%", study("plan", name))
    assert found and int(found[1]) < 60 <= int(found[2])


def test_plan_shows_order_time_disk_memory_and_statistical_limits(spec: Path) -> None:
    text = study("plan", str(spec), "--set", "repetitions=2")
    planned = planned_study.plan_study(spec, {"repetitions": 2}).plan
    lines = [line.split() for line in text.splitlines()]
    shown = [" ".join(line[1:]) for line in lines if line and line[0].isdigit()]
    actions = {"up": "bring up", "down": "tear down"}
    for row, step in zip(shown, planned.steps, strict=True):
        what = step.test_case.id if step.test_case else actions[step.kind]
        assert row == f"{step.build} {what} {duration(step.estimate_s)}"
    assert "8 trials" in text
    assert "no claims" in text
    assert "MiB at once" in text
    assert re.search(r"time +about \d+ min \d+ s, of which windows \d+%, analysis 10 s", text), (
        "no minutes as hours"
    )
    assert all(name in text for name in planned.topologies)


def test_a_study_of_one_density_has_no_warning_about_vms(spec: Path) -> None:
    warning = "support no claim about VMs"
    assert warning in " ".join(study("plan", str(spec)).split())
    one = study("plan", str(spec), "--set", "factors.vms_per_host=[1]")
    assert warning not in " ".join(one.split())


def test_enough_blocks_cause_no_warning(spec: Path) -> None:
    assert "no claims" not in study("plan", str(spec), "--set", "repetitions=5")


def test_plan_shows_what_each_question_needs_and_can_decide(spec: Path) -> None:
    text = " ".join(study("plan", str(spec), "--set", "repetitions=8").split())
    assert "the study declares no `questions`; these are decided: density-rate" in text
    assert (
        "question density-rate cannot be decided: process groups support no claim about VMs" in text
    )


def test_a_long_plan_shows_totals_then_a_row_per_question_then_a_row_per_build() -> None:
    text = study("plan", "talk-2013")
    at = [
        text.index(words) for words in ("time     at most about", "question  tests", "steps build")
    ]
    assert at == sorted(at)
    (claim,) = re.findall(r"^C7 .*$", text, re.MULTILINE)
    assert re.search(r" 4 +2 +2 +\d+ h .* 100%/100%/\d+% +5/6/\d+ .* 0.5, 1.5, 2", claim)
    rows = re.findall(r"^ *\d+-\d+ b\d+-v\d-\w+ +\d+ trials?", text, re.MULTILINE)
    planned = json.loads(study("plan", "talk-2013", "--json"))
    assert len(rows) == len(planned["plan"]["builds"]) < len(planned["plan"]["steps"])
    assert [one["question"] for one in planned["questions"]] == [f"C{n}" for n in range(1, 10)]
    assert planned["estimate_s"] <= 72 * 3600
    levels = [one["at"][0] for one in planned["questions"]]
    assert all(one["noise"] == 0.025 and one["power"] >= 0.8 for one in levels)


def test_where_no_number_of_repetitions_is_known_to_be_enough_none_is_promised() -> None:
    """It may be that more than 1,000 are, or that no number is."""
    at = (AtNoise(0.05, 0.9, 5, 1.1), AtNoise(0.1, 0.0, None, None))
    row = cells(Outlook("q", 1, 1, 2, 60.0, (1.0,), None, at))
    assert "5/none up to 1,000" in row


@pytest.mark.parametrize("command", ("plan", "run"))
def test_an_undecidable_question_is_refused_before_the_start(spec: Path, command: str) -> None:
    expect = "expect: [{name: h, workload: read, compare: vms_per_host, 2_over_1: '> 1'}]\n"
    compare = "compare: {baseline: rolling 5, tolerance: 1%}\n"
    for requirement, message in (
        (expect, "no question of the study can be decided"),
        ("questions: [stack-rate]\n", "nothing of this study is named 'stack-rate'"),
        (compare, "detects only drops over"),
    ):
        spec.write_text(STUDY + requirement)
        with pytest.raises(InputError, match=message) as caught:
            CliRunner().invoke(main.app, [command, str(spec)], catch_exceptions=False)
        assert caught.value.exit_code == 2
    assert not list(spec.parent.glob("runs/*/*/plan.json"))
    spec.write_text(STUDY + expect)
    assert "question h" in study("plan", str(spec), "--anyway")


def test_a_study_is_fitted_into_a_budget_and_written(tmp_path: Path) -> None:
    fitted = tmp_path / "fitted.yaml"
    text = study("plan", "block-cache", "--budget", "66 min", "-o", str(fitted))
    assert "budget: " in " ".join(text.split())
    made = plan_study(fitted)
    assert "at most about 1 h 6 min" in text, "a run ends before a repetition that does not fit"
    bounds = made.study.repetitions
    assert (made.study.budget, bounds.at_least, made.study.fit_s) == (66 * 60, 5, None)
    each_s = made.plan.estimate_s / bounds.at_most
    assert 5 * each_s + 40 <= 66 * 60 < bounds.at_most * each_s, "questions may end sooner"
    assert made.study.questions == ("configuration-rate",)


def test_a_budget_names_what_it_left_out(tmp_path: Path) -> None:
    """No question needs the third variant."""
    spec, fitted = tmp_path / "some.yaml", tmp_path / "fitted.yaml"
    expect = "{name: h, compare: configuration, workload: c, off-heap_over_heap: '> 1'}"
    text = study_path(Path("block-cache")).read_text()
    asks = "questions: [configuration-rate]"
    assert asks in text
    spec.write_text(text.replace(asks, f"expect: [{expect}]"))
    words = " ".join(study("plan", str(spec), "--budget", "2 h", "-o", str(fitted)).split())
    (left,) = plan_study(fitted).study.leave_out
    assert left.endswith("flash-file/*") and f"; left out: {left};" in words


def test_a_budget_is_for_the_chosen_test_cases(tmp_path: Path) -> None:
    """Both were fitted, and the study that was written ran both."""
    spec, fitted = tmp_path / "some.yaml", tmp_path / "fitted.yaml"
    text = study_path(Path("block-cache")).read_text()
    spec.write_text(text.replace("mixes: [c]", "mixes: [c, b]"))
    each = [
        study("plan", str(spec), "--budget", "2 h", *only, "-o", str(fitted))
        for only in ([], ["--only", "ycsb-c-*"])
    ]
    assert each[0] != each[1]
    assert "*/ycsb-b-r400000-t8" in plan_study(fitted).study.leave_out
    ran = {step.test_case.id for step in plan_study(fitted).plan.trials if step.test_case}
    assert ran == {"ycsb-c-r400000-t8"}


def test_a_budget_with_room_keeps_repetitions_for_a_noisy_start(tmp_path: Path) -> None:
    fitted = tmp_path / "fitted.yaml"
    text = study("plan", "block-cache", "--budget", "20 h", "-o", str(fitted))
    bounds = plan_study(fitted).study.repetitions
    assert bounds.planned and bounds.planned < bounds.at_most <= 4 * bounds.planned
    words = " ".join(text.split())
    assert f"up to {bounds.at_most} repetitions if the first ones are noisier" in words
    assert f"5 to {bounds.planned} repetitions" in words


def test_a_study_without_a_budget_is_not_written_in_silence(spec: Path) -> None:
    with pytest.raises(InputError, match="written only if it is fitted"):
        study("plan", str(spec), "-o", str(spec.with_name("fitted.yaml")))


def test_a_budget_that_is_too_small_names_the_least_that_is_enough() -> None:
    said = r"five repetitions of no question of the study fit into 2 min"
    with pytest.raises(InputError, match=said) as caught:
        study("plan", "block-cache", "--budget", "2 min")
    (enough,) = re.findall(r"give it (\d+ min|\d+ h(?: \d+ min)?) or more", caught.value.remedy)
    assert "budget: 5 repetitions" in " ".join(
        study("plan", "block-cache", "--budget", enough).split()
    )
    less = f"{seconds(enough) * 0.9:.0f} s"
    with pytest.raises(InputError, match="five repetitions of no question"):
        study("plan", "block-cache", "--budget", less)


def test_no_budget_is_enough_for_questions_that_cannot_be_decided() -> None:
    with pytest.raises(InputError, match=r"in any time .*process groups"):
        study("plan", "quickstart-full", "--budget", "6 h")


def test_plan_starts_nothing(spec: Path) -> None:
    study("plan", str(spec))
    assert [path.name for path in spec.parent.iterdir()] == ["tiny.yaml"]


def test_status_of_a_running_run(spec: Path) -> None:
    run = open_run(spec, owner=Owner.of_process(os.getpid()))
    run.journal.write("step-started", index=0, kind="up", build="b", label="up b", trial=None)
    text = study("status")
    assert f"tiny {run.id}: running" in text
    assert f"step     1 of {len(run.plan.steps)}" in text
    timeless = [line for line in text.splitlines() if not line.startswith(("elapsed", "left"))]
    for named in (run.id, str(run.root)):
        assert timeless == [
            line for line in study("status", named).splitlines()
            if not line.startswith(("elapsed", "left"))
        ]  # fmt: skip


def test_status_of_a_run_with_a_dead_owner_shows_the_remedy(spec: Path) -> None:
    owner = subprocess.Popen(["sleep", "60"])
    try:
        run = open_run(spec, owner=Owner.of_process(owner.pid))
    finally:
        owner.kill()
        owner.wait()
    assert f"{run.id}: interrupted" in study("status")
    assert f"study reap --runs {run.root.parents[1]}" in study("status")


def test_status_of_a_stopped_run_shows_reason_and_remedy(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_run(spec)
    run.journal.write("step-started", index=0, kind="up", build="b", label="up b", trial=None)
    runs.end_run(run, "failed", "somebody stopped it.", finished=False)
    text = study("status")
    assert f"tiny {run.id}: failed" in text
    assert "left     about" not in text
    assert "failed   somebody stopped it." in text
    assert f"    study run {run.root}/study.yaml" in text.splitlines(), "it can be copied"
    assert study("status") == text, "no clock runs on"
    monkeypatch.chdir(run.root)
    again = f"    study run {run.root}/study.yaml --runs {run.root.parents[1]}"
    assert again in study("status", str(run.root)).splitlines(), "it works from there"
    monkeypatch.chdir(spec.parent)
    assert not runs.has_ended(run)
    assert json.loads(study("status", "--json"))["can_resume"]
    (run.root / rehearsal.FILE).touch()
    text = study("status")
    assert f"    study rehearse {run.root}/study.yaml" in text.splitlines()
    assert "study run" not in text
    assert not json.loads(study("status", "--json"))["can_resume"]


def test_status_of_a_running_bring_up_names_its_phase(spec: Path) -> None:
    run = open_run(spec, owner=Owner.of_process(os.getpid()))
    run.journal.write("step-started", index=0, kind="up", build="b", label="up b", trial=None)
    run.journal.write("phases-started", build="b", tag=run.tag, names=["create"])
    assert re.search(r"^now      step 1/\d+: up \S+ · create, \d+ s$", study("status"), re.M)


def test_watch_shows_the_steps_until_the_run_ends(spec: Path) -> None:
    run = open_run(spec)
    run.journal.write("step-started", index=0, kind="up", build="b", label="up b", trial=None)
    run.journal.write(
        "step-ended", index=0, kind="up", build="b", trial=None, outcome="ok", message=""
    )
    runs.end_run(run, "failed", "somebody stopped it.", finished=False)
    before = {path: path.stat().st_mtime_ns for path in run.root.rglob("*")}
    result = CliRunner().invoke(main.app, ["watch"], catch_exceptions=False)
    assert result.exit_code == 1, "the run failed"
    assert f"step 1/{len(run.plan.steps)}: up " in result.output
    assert "failed   somebody stopped it." in result.output
    assert {path: path.stat().st_mtime_ns for path in run.root.rglob("*")} == before, (
        "it only reads"
    )


def test_watch_ends_when_the_runs_owner_is_dead(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = subprocess.Popen(["sleep", "60"])
    try:
        run = open_run(spec, owner=Owner.of_process(owner.pid))
    finally:
        owner.kill()
        owner.wait()
    run.journal.write("step-started", index=0, kind="up", build="b", label="up b", trial=None)
    later = SimpleNamespace(time=lambda: time.time() + 5000, sleep=time.sleep)
    monkeypatch.setattr(watch_command, "time", later)
    result = CliRunner().invoke(main.app, ["watch"], catch_exceptions=False)
    assert result.exit_code == 1
    assert "interrupted" in result.output
    assert re.search(r"^\[ +\d s\] step 1/", result.output, re.M), "until it died, not until now"


@pytest.mark.parametrize("form", ["markdown", "csv", "json"])
def test_a_report_in_another_format_is_the_only_standard_output(
    spec: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    run = open_run(spec, owner=Owner.of_process(os.getpid()))

    def analysed(root: Path, data: Path | None) -> None:
        (root / "report").mkdir()
        (root / "report" / "summary.json").write_text(one_block().model_dump_json())

    monkeypatch.setattr("density_study.jobs.remote_analysis.start_spark", lambda: None)
    monkeypatch.setattr("density_study.jobs.pipeline.analyse", analysed)
    for _ in range(
        2
    ):  # the second time from the summary: `analysed` would fail, as its folder exists
        result = CliRunner().invoke(main.app, ["report", str(run.root), "--format", form])
        assert result.exit_code == 0
        assert result.stdout_bytes.decode() == FORMATS[form](one_block())


def test_a_report_on_the_terminal_says_what_is_not_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "summary.json").write_text(one_block().model_dump_json())
    console.print_report(tmp_path)
    assert " ".join(str(one_block().undecided).split()) in " ".join(capsys.readouterr().out.split())


def test_options_of_the_analysis_repeat_it(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(spec, owner=Owner.of_process(os.getpid()))
    (run.root / "report").mkdir()
    (run.root / "report" / "summary.json").write_text(one_block().model_dump_json())
    targets = []
    monkeypatch.setattr(
        "density_study.jobs.remote_analysis.analyse_elsewhere", lambda _, to: targets.append(to)
    )
    arguments = ["report", str(run.root), "--format", "csv"]
    assert CliRunner().invoke(main.app, arguments).exit_code == 0 and not targets
    for option in (["--master", "local[2]"], ["--conf", "spark.ui.enabled=true"]):
        assert CliRunner().invoke(main.app, [*arguments, *option]).exit_code == 0
    assert [target.master for target in targets] == ["local[2]", "local[*]"]


def test_an_invalid_run_is_refused_with_the_command_that_lists_runs(spec: Path) -> None:
    with pytest.raises(InputError) as caught:
        study("status", str(spec.parent))
    assert "`study list`" in caught.value.remedy


def test_a_run_to_analyse_may_be_a_relative_path(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark and Great Expectations accept no relative folder."""
    roots: list[Path] = []

    def analysed(root: Path, _: object) -> None:
        roots.append(root)

    monkeypatch.setattr("density_study.jobs.remote_analysis.analyse_elsewhere", analysed)
    (spec.parent / "runs" / "s" / "r" / "records").mkdir(parents=True)
    study("report", "runs/s/r")
    assert roots == [spec.parent / "runs" / "s" / "r"]


def test_a_missing_run_is_bad_input(spec: Path) -> None:
    with pytest.raises(InputError):
        study("status")


def test_an_error_has_location_problem_and_remedy_but_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise BringUpError(
            "died.", "node w1", "see its log.", daemon="datanode", log_tail="disk [full]"
        )

    monkeypatch.setattr(main, "app", fail)
    with pytest.raises(SystemExit) as caught:
        main.main()
    assert caught.value.code == 1
    shown = capsys.readouterr().err
    assert shown == (
        "error: node w1: died.\nremedy: see its log.\n--- last lines of datanode ---\ndisk [full]\n"
    )


def test_commands_of_a_remedy_are_never_folded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal, a line that is too wide for it has its commands on lines of their own."""
    long = f"study run {'folder/' * 12}study.yaml --add-repetitions 4"
    error = InputError("a fault.", "here", f"free the host, then `{long}`; or `study reap`.")
    monkeypatch.setattr(console, "err", PlainConsole(stderr=True, width=60))
    console.print_error(error)
    assert capsys.readouterr().err == f"error: here: a fault.\nremedy: {error.remedy}\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(console, "err", PlainConsole(stderr=True, width=60))
    console.print_error(error)
    assert capsys.readouterr().err.splitlines()[1:] == [
        "remedy: free the host, then", f"    {long}", "or", "    study reap",
    ]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", [["--help"], ["plan", "tiny.yaml"], ["status"]])
def test_neither_airflow_nor_spark_is_imported_before_it_is_needed(
    spec: Path, arguments: list[str]
) -> None:
    code = (
        "import sys\n"
        "from density_study.dags.cli.main import main\n"
        f"sys.argv = ['study', *{arguments!r}]\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'airflow', 'pyspark', 'great_expectations', 'pandas', 'scipy.stats', 'scipy.optimize'}\n"
        "print('heavy:', sorted(heavy & set(sys.modules)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(project_root())}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, cwd=spec.parent, env=environment, check=True,
    )  # fmt: skip
    assert ended.stdout.splitlines()[-1] == "heavy: []", ended.stderr


_FIT = "capacity fit --points points.csv -o model.json"


@pytest.mark.parametrize(
    "command", [_FIT, f"{_FIT} --json", "schema", "schema summary", "sudo-rules", "--version"]
)
def test_a_reader_that_has_seen_enough_does_not_fail_a_command(spec: Path, command: str) -> None:
    """`study capacity fit | head -1` exited with 1, though the model was written."""
    study("example", "points.csv", str(spec.parent / "points.csv"))
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [sys.executable, "-m", "density_study.dags.cli.main", *command.split()],
        stdout=writing, stderr=subprocess.PIPE, text=True, cwd=spec.parent, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (spec.parent / "model.json").is_file() == command.startswith(_FIT)


def test_a_lost_reader_of_messages_loses_no_result() -> None:
    """`study run --json 2> >(head -1)` wrote no document, and would have ended with 0."""
    code = (
        "from density_study.dags.cli.console import err, print_json\n"
        "err.print('a message')\nprint_json(['kept'])"
    )
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=writing, text=True, check=False
    )
    os.close(writing)
    assert (ended.returncode, json.loads(ended.stdout)) == (0, ["kept"])


def test_watch_ends_when_nobody_reads_it_any_more(spec: Path) -> None:
    run = open_run(spec, owner=Owner.of_process(os.getpid()))
    run.journal.write("step-started", index=0, kind="up", build="b", label="up b", trial=None)
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "density_study.dags.cli.main", "watch", str(run.root)]
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_a_torn_journal_does_not_stop_status(spec: Path) -> None:
    run = open_run(spec, owner=Owner.of_process(os.getpid()))
    with Journal(run.journal.path).path.open("a") as stream:
        stream.write('{"event": "st')
    assert run.id in study("status")


@pytest.mark.parametrize(
    "command", [["plan", "tiny.yaml"], ["status"], ["reap"], ["run", "tiny.yaml"]]
)
@pytest.mark.parametrize("runs", ["tiny.yaml", "tiny.yaml/x", "/proc/x", "/sys", "x" * 300, "link"])
def test_an_impossible_folder_of_runs_is_bad_input(
    spec: Path, command: list[str], runs: str
) -> None:
    (spec.parent / "link").symlink_to("nowhere")
    with pytest.raises(InputError) as caught:
        study(*command, "--runs", runs)
    assert caught.value.where == f"--runs {runs}"


@pytest.mark.parametrize("master", ["bogus", "local[0]", "local[]", "local[-1]", "LOCAL", " "])
def test_an_invalid_spark_master_is_refused_by_name(spec: Path, master: str) -> None:
    with pytest.raises(InputError) as caught:
        study("report", "--master", master)
    assert caught.value.where == f"--master {master}"
    assert "local[*]" in caught.value.remedy


@pytest.mark.parametrize("pair", ("spark.eventLog.enabled", "x=1", "=1"))
def test_an_invalid_spark_option_is_refused(pair: str) -> None:
    result = CliRunner().invoke(main.app, ["report", "--conf", pair])
    assert isinstance(result.exception, InputError)
    assert "write --conf spark.KEY=VALUE" in result.exception.remedy


def test_version_is_the_packages_version() -> None:
    assert study("--version") == f"study {version('density-study')}\n"
