"""`study list`, `study rm` and `study run --tag`: the runs of a folder, their tags, their removal."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.simulated.rehearsal import FILE
from density_study.cluster.state.owner import Owner
from density_study.cluster.state.run_tags import tag_run, tags_of
from density_study.dags.airflow_home.home import project_root
from density_study.dags.cli import main, run_command
from density_study.dags.cli.list_command import size
from density_study.workloads.execution import run as runs
from density_study.workloads.execution.opening import open_run
from tests.support.made_runs.command import printed, spec, study

__all__ = ["spec"]  # the fixture


def opened() -> runs.Run:
    return open_run(Path("tiny.yaml"), owner=Owner.of_process(os.getpid()))


def ended() -> runs.Run:
    run = opened()
    run.journal.write("tear-down", outcome="ok", message="")
    runs.end_run(run, "failed")
    return run


def test_list_has_a_row_per_run(spec: Path) -> None:
    """Links and folders without a run are not listed; a broken run is named, not hidden."""
    first = opened()
    step = first.plan.trials[0]
    fields = {"index": step.index, "kind": "trial", "build": step.build, "trial": step.trial}
    first.journal.write("step-started", label=step.label, **fields)
    first.journal.write("step-ended", outcome="ok", message="", **fields)
    runs.end_run(first, "failed")
    tag_run(first.root, {"ticket": "PERF-12", "who": "ann"})
    folder = first.root.parent
    second = folder / "20990101T000000Z"
    shutil.copytree(first.root, second)
    (second / "plan.json").write_text("{")
    (folder / "report").symlink_to(first.root)
    (folder / "other").mkdir()
    lines = study("list").splitlines()
    moment = datetime.fromtimestamp(next(iter(first.journal.read()))["t"], UTC)
    trials = ["1", "of", str(len(first.plan.trials))]
    row, broken, why = (line.split() for line in lines[1:])
    assert row[:5] == ["tiny", first.id, "failed", f"{moment:%Y-%m-%d}", f"{moment:%H:%M}"]
    assert row[5:7][1] == "s" and int(row[5]) < 60, "age"
    assert row[7:10] == trials
    assert row[11:] == ["KiB", "ticket=PERF-12", "who=ann"]
    assert broken[:3] == ["tiny", second.name, "unreadable"]
    text = f"unreadable: tiny {second.name}: plan.json: this is not a plan: line 1, column"
    assert " ".join(why).startswith(text)


def test_a_rehearsal_is_listed_as_simulated(spec: Path) -> None:
    run = ended()
    assert "simulated" not in study("list") and printed("list")[0]["simulated"] is False
    (run.root / FILE).write_text("{}")
    assert study("list").splitlines()[1].split()[2:4] == ["failed,", "simulated"]
    assert printed("list")[0]["simulated"] is True
    assert "note     simulated: " in study("status")


def test_list_reports_that_there_are_no_runs(spec: Path) -> None:
    assert study("list") == "runs contains no runs.\n"


def test_a_list_of_tagged_runs(spec: Path) -> None:
    first = ended()
    tag_run(first.root, {"ticket": "1", "who": "ann"})
    assert [one["run"] for one in printed("list", "--tag", "ticket=1", "--tag", "who=ann")] == [
        first.id
    ]
    assert printed("list", "--tag", "ticket=2") == []
    assert study("list", "--tag", "ticket=2") == "runs contains no runs with ticket=2.\n"
    (facts,) = printed("list")
    assert facts["tags"] == {"ticket": "1", "who": "ann"}
    assert facts["folder"] == str(first.root) and facts["fault"] == ""
    assert facts["size_bytes"] > 0 and 0 <= facts["age_s"] < 60
    assert (facts["trials_done"], facts["trials"]) == (0, len(first.plan.trials))


@pytest.mark.parametrize("command", [("list",), ("run", "tiny.yaml")])
def test_a_bad_tag_is_bad_input(spec: Path, command: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=r"a tag is KEY=VALUE"):
        study(*command, "--tag", "Ticket")
    assert not Path("runs").exists()


def test_run_tags_the_run_that_it_opens(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def carried_out(run: runs.Run, *_: object) -> object:
        raise InputError("stop here", "test", "none")

    monkeypatch.setattr("density_study.dags.cli.carry_out.carry_out", carried_out)
    assert run_command.EXAMPLES.count("--tag") == 1
    with pytest.raises(InputError, match="stop here"):
        study("run", "tiny.yaml", "--tag", "ticket=1")
    (root,) = Path("runs/tiny").glob("2*")
    assert tags_of(root) == {"ticket": "1"}


def test_rm_removes_the_run_and_rebuilds_the_hub(spec: Path) -> None:
    run = ended()
    facts = printed("list")[0]
    removed = printed("rm", run.id, "--yes")
    assert removed == {"removed": str(run.root), "size_bytes": facts["size_bytes"]}
    assert not run.root.exists()
    hub = Path("runs/index.html").read_text()
    assert run.id not in hub and "There is no run yet" in hub
    assert study("list") == "runs contains no runs.\n"


def test_rm_takes_away_the_link_to_the_report(spec: Path) -> None:
    run = ended()
    (run.root / "report").mkdir()
    (run.root / "report" / "index.html").write_text("the report")
    (run.root.parent / "report").symlink_to(f"{run.id}/report")
    assert "removed" in study("rm", str(run.root), "--yes")
    assert not run.root.parent.exists()


def test_rm_without_a_terminal_needs_yes(spec: Path) -> None:
    run = ended()
    with pytest.raises(InputError, match="confirmation") as caught:
        study("rm", run.id)
    assert "--yes" in caught.value.remedy and run.root.is_dir()


def test_rm_refuses_a_live_run_and_an_unknown_one(spec: Path) -> None:
    run = opened()
    with pytest.raises(InputError, match="is running"):
        study("rm", run.id, "--yes")
    for name in ("20990101T000000Z", ".", "tiny.yaml", "/"):
        with pytest.raises(InputError, match="not the folder or the id"):
            study("rm", name, "--yes")
    assert run.root.is_dir()


def test_rm_refuses_an_id_of_two_studies(spec: Path) -> None:
    run = ended()
    shutil.copytree(run.root, f"runs/other/{run.id}")
    with pytest.raises(InputError, match="2 studies have a run with this id") as caught:
        study("rm", run.id, "--yes")
    assert f"runs/other/{run.id}" in caught.value.remedy


@pytest.mark.parametrize(
    ("answer", "code"), [("n", 1), pytest.param("y", 0, marks=pytest.mark.slow)]
)
def test_rm_asks_on_a_terminal(spec: Path, answer: str, code: int) -> None:
    run = ended()
    controller, terminal = pty.openpty()
    argv = [sys.executable, "-m", "density_study.dags.cli.main", "rm", run.id]
    environment = {**os.environ, "PYTHONPATH": str(project_root())}
    process = subprocess.Popen(
        argv, stdin=terminal, stdout=terminal, stderr=terminal, env=environment
    )
    os.close(terminal)
    os.write(controller, f"{answer}\n".encode())
    shown = b""
    while True:
        try:
            part = os.read(controller, 4096)
        except OSError:  # the command has ended, and closed its terminal
            break
        if not part:
            break
        shown += part
    assert process.wait(60) == code, shown
    assert f"Delete tiny {run.id} (failed, ".encode() in shown
    assert run.root.is_dir() == (code == 1)


def test_help_has_examples() -> None:
    for command in ("list", "rm"):
        text = CliRunner().invoke(main.app, [command, "--help"]).output
        assert "Examples:" in text and f"study {command}" in text


def test_sizes_are_readable() -> None:
    shown = [size(count) for count in (0, 1023, 1536, 10 * 2**20, 3.2 * 2**40, 2**60)]
    assert shown == ["0 B", "1023 B", "1.5 KiB", "10 MiB", "3.2 TiB", "1048576 TiB"]


def test_the_facts_are_json(spec: Path) -> None:
    ended()
    result = CliRunner().invoke(main.app, ["list", "--json"])
    assert json.loads(result.stdout)[0]["state"] == "failed"
