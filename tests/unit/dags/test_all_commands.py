"""Rules for every command of `study`: help, examples, --json, suggestions, completion, one form of errors.

A new command is tested without a change here.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from density_study.dags.cli import main
from docs.generator.cli_page import commands

EVERY = dict(commands())
GROUPS = {name: one for name, one in EVERY.items() if hasattr(one, "commands")}
ALONE = {name: one for name, one in EVERY.items() if name not in GROUPS}
WITHOUT_JSON = {
    "study init": "writes a file, asking questions",
    "study schema": "prints JSON",
    "study report": "has --format json",
    "study capacity import-trace": "writes a file",
    "study stack add": "downloads, with progress",
    "study stack sbom": "prints JSON",
    "study sudo-rules": "prints a shell script",
    "study setup": "downloads, with progress",
    "study airflow": "serves until Ctrl-C",
    "study mcp": "speaks a protocol",
    "study watch": "shows a run under way, until it ends",
}


def options(command: Any) -> list[str]:
    return [opt for one in command.params for opt in one.opts if opt.startswith("--")]


def examples(command: Any) -> list[str]:
    return [line.strip() for line in (command.epilog or "").splitlines() if line[:4] == "    "]


@pytest.fixture
def called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Any:
    """Runs `study` as the shell does: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["study", *arguments])
        with pytest.raises(SystemExit) as ended:
            main.main()
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err

    return call


def completed(words: str) -> list[str]:
    """What the shell offers at the end of `words`."""
    environment = {
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
        "_STUDY_COMPLETE": "complete_bash",
    }
    result = CliRunner().invoke(main.app, [], env=environment, prog_name="study")
    return result.output.split()


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_says_what_it_does_and_shows_examples(called: Any, name: str, option: str) -> None:
    code, text, _ = called(*name.split()[1:], option)
    assert code in (0, None)
    words = " ".join(re.sub(r"[│╭╮╰╯─]", " ", text).split())
    assert "Examples:" in words
    for example in examples(EVERY[name]):
        assert " ".join(example.split())[:70] in words


@pytest.mark.parametrize("name", EVERY)
def test_each_example_can_be_parsed(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n" * 9))  # questions get their defaults
    found = examples(EVERY[name])
    assert found and all(example.startswith(name) for example in found)
    for example in found:
        words = shlex.split(example.partition(" > ")[0])
        last = max((one for one in ALONE if words[: len(one.split())] == one.split()), key=len)
        ALONE[last].make_context(last, words[len(last.split()) :])


def test_every_command_that_prints_facts_prints_them_as_json() -> None:
    without = {name for name, one in ALONE.items() if "--json" not in options(one)}
    assert without == set(WITHOUT_JSON)


@pytest.mark.parametrize("name", [name for name in EVERY if name != "study"])
def test_a_mistyped_command_gets_a_suggestion(called: Any, name: str) -> None:
    *parents, own = name.split()[1:]
    # two letters change places; a short name, or one with a double letter, gets a letter twice
    swapped = own[:-2] + own[-1] + own[-2]
    mistyped = swapped if len(own) > 3 and swapped != own else own + own[-1]
    code, out, err = called(*parents, mistyped)
    assert (code, out) == (2, "")
    assert re.search(rf"Did you mean .*'{own}'", err)


@pytest.mark.parametrize("name", ALONE)
def test_a_mistyped_option_gets_a_suggestion(called: Any, name: str) -> None:
    for option in options(ALONE[name]):
        if len(option) < 6:
            continue
        mistyped = option[:-2] + option[-1] + option[-2]
        if mistyped == option:  # --read-p99
            continue
        code, _, err = called(*name.split()[1:], mistyped)
        assert code == 2
        assert "Did you mean" in err and option in err


@pytest.mark.parametrize("name", EVERY)
def test_the_shell_completes_commands_and_options(name: str) -> None:
    if name in GROUPS:
        assert set(completed(f"{name} ")) >= set(GROUPS[name].commands)
    assert set(completed(f"{name} --")) >= set(options(EVERY[name]))


def test_the_shell_completes_ids_of_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for run in ("20260101T000000Z", "20260102T000000Z"):
        (tmp_path / "runs" / "s" / run).mkdir(parents=True)
        (tmp_path / "runs" / "s" / run / "journal.jsonl").touch()
    assert completed("study report ") == ["20260102T000000Z", "20260101T000000Z"]
    assert completed("study compare 20260101") == ["20260101T000000Z"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan"],
        ["nonsense"],
        ["plan", "a.yaml", "--nonsense"],
        ["plan", "a.yaml", "--effect", "much"],
        ["plan", "a.yaml", "b.yaml"],
        ["plan", "missing.yaml"],
        ["status"],
        ["report", "--format", "pdf"],
        ["airflow", "--port", "99999"],
        ["capacity", "years", "--today", "5", "--hosts", "h", "--model", "m", "--seed", "-1"],
        [
            "capacity",
            "years",
            "--today",
            "5",
            "--hosts",
            "h",
            "--model",
            "m",
            "--draws",
            "1000000000",
        ],
    ],
)
def test_every_error_has_place_fault_and_remedy(called: Any, arguments: list[str]) -> None:
    code, out, err = called(*arguments)
    assert (code, out) == (2, "")
    first, second = err.splitlines()
    assert re.fullmatch(r"error: .+: .+[.?]", first)
    assert re.fullmatch(r"remedy: .+\.", second)


@pytest.mark.parametrize("arguments", [[], ["capacity"]])
def test_a_group_alone_prints_its_help_and_nothing_else(called: Any, arguments: list[str]) -> None:
    code, out, err = called(*arguments)
    assert code == 2 and "Usage: study" in out and err == ""


def test_an_unanswered_question_is_bad_input(called: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(os.devnull) as nothing:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdin", nothing)
        assert called("init")[0] == 2


@pytest.mark.parametrize("name", ALONE)
def test_no_whole_number_is_without_a_least(name: str) -> None:
    numbers = [one for one in ALONE[name].params if one.type_descriptor.annotation is int]
    assert [one.opts for one in numbers if one.min is None] == []


def test_a_choice_that_does_not_exist_is_reported_in_plain_words(called: Any) -> None:
    code, _, err = called("run", "quickstart", "--keep", "it")
    assert code == 2
    assert "'--keep': 'it' is not one of 'on-failure', 'always'." in err
