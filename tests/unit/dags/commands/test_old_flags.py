"""Options that were renamed are read for one more release, with a warning that names the new one."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from density_study.analysis import capacity
from density_study.dags.cli import main
from density_study.dags.cli.old_flags import RENAMED, present
from docs.generator.cli_page import commands

POINTS = Path(capacity.__file__).parent / "inputs" / "examples" / "points.csv"


@pytest.mark.parametrize(
    ("command", "words", "today"),
    [
        ("init", "a.yaml --hosts 192.0.2.1", "a.yaml --addresses 192.0.2.1"),
        ("report", "RUN --open yes --format csv", "RUN --open --format csv"),
        ("report", "--open no RUN", "RUN"),
        ("stack sbom", "hbase --to=x.json", "hbase --output=x.json"),
        ("capacity explain", "m --hosts=6 --medium hdd", "m --count=6 --disk-type hdd"),
        ("capacity size", "--map a=b --map c=d", "--measured-by a=b --measured-by c=d"),
        ("shell", "-- ls --hosts", "-- ls --hosts"),
        ("init", "-- --hosts", "-- --hosts"),
        ("capacity size", "--hosts hosts.yaml", "--hosts hosts.yaml"),
    ],
)
def test_old_words_become_those_of_today(command: str, words: str, today: str) -> None:
    found, warnings = present(command, words.split())
    assert found == today.split()
    assert bool(warnings) == (words != today)


@pytest.mark.parametrize("command", RENAMED)
def test_each_new_option_is_one_of_the_command_and_no_old_one_is(command: str) -> None:
    found = dict(commands())[f"study {command}"]
    known = {name for option in found.params for name in option.opts}
    for old, new in RENAMED[command].items():
        assert set(new) <= set(known)
        assert old[0] not in known or len(old) > 1, "an old name must not hide an option"


def test_a_command_with_old_options_works_and_warns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def study(line: str) -> tuple[int, str, str]:
        done = CliRunner().invoke(main.app, line.split(), prog_name="study")
        return done.exit_code, done.stdout, done.stderr

    assert study(f"capacity fit --points {POINTS} -o model.json")[0] == 0
    today = study("capacity explain model.json --group hdfs-read --disk-type flash --count 6")
    old = study("capacity explain model.json --group hdfs-read --medium flash --hosts=6")
    assert (today[0], today[2]) == (0, "")
    assert old[:2] == today[:2]
    assert "study capacity explain: --medium is no longer used; write --disk-type." in old[2]
    assert "--hosts is no longer used; write --count." in old[2]
