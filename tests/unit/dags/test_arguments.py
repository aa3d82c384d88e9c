"""Help of `study`: commands by task, flags without a value, one meaning of each option, times one way; and
--set key=value."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from typer.testing import CliRunner

from density_study.cluster.model.errors import InputError
from density_study.dags.cli import keep_commands, main
from density_study.dags.cli.arguments import PANELS, parse_overrides
from density_study.workloads.base.quantity import duration, seconds
from density_study.workloads.study.study_file import read_study
from docs.generator.cli_page import commands

EVERY = dict(commands())


def call(*arguments: str) -> str:
    result = CliRunner().invoke(main.app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_every_command_is_in_one_group_of_the_help() -> None:
    named = sorted(name for names in PANELS.values() for name in names)
    assert named == sorted(n.split()[1] for n in EVERY if len(n.split()) == 2)
    text = call("--help")
    places = [text.index(f"─ {panel} ─") for panel in PANELS]
    assert places == sorted(places)


@pytest.mark.parametrize("name", EVERY)
def test_flags_show_no_value(name: str) -> None:
    assert "<bool>" not in call(*name.split()[1:], "--help")


def test_an_option_has_one_kind_of_value() -> None:
    kinds = defaultdict(set)
    for command in EVERY.values():
        for one in command.params:
            if one.param_type_name == "option" and not one.is_flag:
                kinds[max(one.opts, key=len)].add(one.metavar)
    several = {option: values for option, values in kinds.items() if len(values) > 1}
    assert set(several) == {"--output"}, several


@pytest.mark.parametrize(
    ("text", "time_s"),
    (("45 s", 45), ("1h30m", 5400), ("2h", 7200), ("24 min 43 s", 1483), ("1 d 2 h", 93600)),
)
def test_times_are_read_as_they_are_written(text: str, time_s: float) -> None:
    assert seconds(text) == time_s


@pytest.mark.parametrize("text", ("", "h", "5", "1 m 2", "3 MiB", "0s"))
def test_other_texts_are_no_times(text: str) -> None:
    with pytest.raises(ValueError):
        seconds(text)


@pytest.mark.parametrize("time_s", (0.4, 45, 60, 1483, 3600, 7500))
def test_a_written_time_is_read_back(time_s: float) -> None:
    assert time_s < 1 or abs(seconds(duration(time_s)) - time_s) < 60


def test_examples_can_be_written_and_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = call("example").split()
    assert {"quickstart", "capacity-curve", "catalog.yaml", "points.csv"} <= set(names)
    call("example", "quickstart", "mine.yaml")
    assert read_study(Path("mine.yaml")).study.study == "quickstart"
    call("example", "catalog.yaml")
    assert Path("catalog.yaml").is_file()
    with pytest.raises(InputError, match="the file exists"):
        call("example", "catalog.yaml")
    with pytest.raises(InputError) as caught:
        call("example", "quickstrat")
    assert "quickstart" in caught.value.remedy


def test_values_are_yaml() -> None:
    pairs = [
        "repetitions=2",
        "stack.base_port=22000",
        "factors.vms_per_host=[1, 2]",
        "question=a=b?",
    ]
    assert parse_overrides(pairs) == {
        "repetitions": 2,
        "stack.base_port": 22000,
        "factors.vms_per_host": [1, 2],
        "question": "a=b?",
    }


@pytest.mark.parametrize("pair", ["repetitions", "=2", "repetitions=[1"])
def test_an_invalid_override_is_named(pair: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_overrides([pair])
    assert caught.value.where == f"--set {pair}"


@pytest.mark.parametrize(
    "arguments",
    (
        ("export", "quickstart", "--to", ""),
        ("export", "quickstart", "--to="),
        ("list", "--runs", ""),
        ("import", ""),
    ),
)
def test_an_unset_variable_of_the_shell_is_not_the_working_folder(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="has an empty value") as found:
        CliRunner().invoke(main.app, list(arguments), catch_exceptions=False)
    assert found.value.where == f"study {arguments[0]}"
    assert not list(tmp_path.iterdir())


def test_a_key_may_be_set_to_nothing() -> None:
    with pytest.raises(InputError) as found:
        CliRunner().invoke(main.app, ["plan", "none.yaml", "--set=queue="], catch_exceptions=False)
    assert "empty value" not in found.value.what


def test_a_program_that_the_shell_runs_may_have_empty_arguments() -> None:
    with pytest.raises(InputError, match="no cluster is kept"):
        CliRunner().invoke(main.app, ["shell", "--", "hdfs", ""], catch_exceptions=False)


def test_the_keeper_takes_nothing_but_its_options_for_an_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []

    class Ended:
        stdout = ()
        pid = -1

        def __init__(self, argv: list[str], **_: object) -> None:
            started.extend(argv)

        def wait(self) -> int:
            return 0

    monkeypatch.chdir(tmp_path)
    spec = Path("--json.yaml")
    spec.touch()
    monkeypatch.setattr(keep_commands.subprocess, "Popen", Ended)
    monkeypatch.setattr(keep_commands, "_keeps", lambda _: False)
    CliRunner().invoke(main.app, ["up", "--set", "-x=1", "--", str(spec)])
    assert started[-4:] == ["--expires=8 h", "--set=-x=1", "--", str(spec)]
