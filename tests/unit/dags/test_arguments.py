"""Help of `study`: commands by task, flags without a value, one meaning of each option, times one way; and
--set key=value."""

from __future__ import annotations

import logging
from collections import defaultdict
from pathlib import Path

import pytest
from typer.testing import CliRunner

from density_study.cluster.model.errors import FaultsError, InputError
from density_study.dags.cli import console, keep_commands, main
from density_study.dags.cli.arguments import PANELS, parse_overrides
from density_study.dags.cli.carry_out import LogFollower
from density_study.workloads.base.quantity import duration, seconds, whole_mib
from density_study.workloads.study.shipped import study_path
from density_study.workloads.study.study_file import read_study
from docs.generator.cli_page import commands
from tests.support.made_runs.command import study as call

EVERY = dict(commands())


def test_every_command_is_in_one_group_of_the_help() -> None:
    named = sorted(name for names in PANELS.values() for name in names)
    assert named == sorted(n.split()[1] for n in EVERY if len(n.split()) == 2)
    text = call("--help")
    places = [text.index(f"─ {panel} ─") for panel in PANELS]
    assert places == sorted(places)


@pytest.mark.parametrize("name", EVERY)
def test_flags_show_no_value_and_names_no_type(name: str) -> None:
    text = call(*name.split()[1:], "--help")
    assert "<bool>" not in text and "<path>" not in text


@pytest.mark.parametrize(
    "name", [name for name, one in EVERY.items() if not hasattr(one, "commands")]
)
def test_every_command_can_be_quiet_or_verbose(name: str) -> None:
    text = call(*name.split()[1:], "--help")
    assert "-q" in text and "--quiet" in text and "-v" in text and "--verbose" in text


def test_quiet_leaves_out_what_is_no_result(capsys: pytest.CaptureFixture[str]) -> None:
    call("plan", "quickstart", "-q")
    console.progress(console.out).print("step 1 of 2")
    console.print_error(InputError("a fault.", "here", "mend it."))
    assert capsys.readouterr() == ("", "error: here: a fault.\nremedy: mend it.\n")
    call("plan", "quickstart")
    console.progress(console.out).print("step 1 of 2")
    assert capsys.readouterr().out == "step 1 of 2\n"


def test_verbose_prints_log_messages_and_the_calls_behind_an_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = logging.getLogger("density_study.a_module")
    for flags, shown in ((["--verbose"], True), ([], False)):
        call("plan", "quickstart", *flags)
        log.info("a host \033[31manswered")
        try:
            raise InputError("a fault.", "here", "mend it.")
        except InputError as error:
            console.print_error(error)
        text = capsys.readouterr().err
        assert ("a host ?[31manswered" in text) is shown
        assert ("Traceback" in text) is shown


def test_a_remedy_has_the_names_that_the_user_gave(capsys: pytest.CaptureFixture[str]) -> None:
    fault = InputError("a fault.", "here", "study run SPEC --fresh, or study report RUN.")
    call("plan", "quickstart")
    console.print_error(fault)
    assert "study run quickstart --fresh, or study report RUN." in capsys.readouterr().err


def test_what_the_log_has_got_is_shown_once(tmp_path: Path) -> None:
    path = tmp_path / "airflow.log"
    path.write_text("of an earlier start\n")
    log = LogFollower(path)
    assert log.new_text() == ""
    with path.open("a") as file:
        file.write("one\n")
    assert (log.new_text(), log.new_text()) == ("one\n", "")


def test_an_option_has_one_kind_of_value() -> None:
    kinds = defaultdict(set)
    for command in EVERY.values():
        for one in command.params:
            if one.param_type_name == "option":
                kinds[max(one.opts, key=len)].add("" if one.is_flag else one.metavar)
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


@pytest.mark.parametrize(
    ("text", "better"), (("6GB", "6GiB"), ("500 MB", "500 MiB"), ("9 kB", "9 KiB"))
)
def test_a_decimal_size_gets_the_binary_one(text: str, better: str) -> None:
    with pytest.raises(ValueError, match=f"is decimal, .* write {better}$"):
        whole_mib(text)


def test_every_faulty_override_is_named_at_once() -> None:
    with pytest.raises(FaultsError) as caught:
        parse_overrides(("repetitions", "seed=1", "=2", "a=[1"))
    assert [one.where for one in caught.value.faults] == [
        "--set repetitions",
        "--set =2",
        "--set a=[1",
    ]


def test_a_key_with_two_values_is_refused() -> None:
    with pytest.raises(InputError, match="this key is given more than once") as caught:
        parse_overrides(("repetitions=2", "seed=1", "repetitions=3"))
    assert caught.value.where == "--set repetitions"


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


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "mine.yaml", "--budget", "1 h", "-o", "./mine.yaml"),
        ("capacity", "fit", "--points", "mine.yaml", "-o", "link.yaml"),
        ("capacity", "import-trace", "other.txt", "mine.yaml", "-o", "mine.yaml"),
        ("capacity", "size", "--ops", "1/s", "--hosts", "h", "--model", "m", "--profile", "mine.yaml",
         "--page", "mine.yaml"),
    ],
)  # fmt: skip
def test_no_result_overwrites_what_the_command_reads(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_bytes(study_path(Path("quickstart")).read_bytes())
    Path("link.yaml").symlink_to("mine.yaml")
    with pytest.raises(InputError, match="also an input, which would be lost"):
        CliRunner().invoke(main.app, words, catch_exceptions=False)
    assert Path("mine.yaml").read_bytes() == study_path(Path("quickstart")).read_bytes()


def test_a_key_may_be_set_to_nothing() -> None:
    with pytest.raises(InputError) as found:
        CliRunner().invoke(main.app, ["plan", "none.yaml", "--set=queue="], catch_exceptions=False)
    assert "empty value" not in found.value.what


def test_a_program_that_the_shell_runs_may_have_empty_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(tmp_path))
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
