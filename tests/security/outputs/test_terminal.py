"""Names, tags and messages of others reach a terminal as text alone."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from density_study.cluster.model.plain import plain, plain_json
from density_study.dags.cli import console, list_command
from density_study.dags.cli.layout import rows_table

HOSTILE = "\x1b]0;title\x07\x1b]52;c;cm0=\x07\x1b[8m\x9b2J\r\x08\u202egnp.exe\u2066\x7f[/b][link=http://x]:skull:"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _imported(root: Path) -> Path:
    root.mkdir(parents=True)
    events = (
        {"event": "run-imported", "study": HOSTILE, "run": root.name, "trials": []},
        {"event": "run-tagged", "tags": {"ticket": HOSTILE}},
    )
    lines = [json.dumps({"format": 1, "t": 1.0, **event}) for event in events]
    (root / "journal.jsonl").write_text("\n".join(lines) + "\n")
    return root


def test_lists_of_runs_obey_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _imported(tmp_path / "s" / HOSTILE.replace("/", "_").replace("\0", ""))
    list_command.list_runs(tmp_path, None, False)
    printed = capsys.readouterr().out
    assert "title" in printed and not OBEYED.search(printed)
    list_command.list_runs(tmp_path, None, True)
    printed = capsys.readouterr().out
    assert not OBEYED.search(printed)
    (row,) = json.loads(printed)
    assert row["run"].startswith("\x1b]0;title"), "other programs still get the very name"


def test_errors_and_warnings_obey_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    from density_study.cluster.model.errors import StudyError

    console.print_error(StudyError(HOSTILE, HOSTILE, HOSTILE))
    console.plain_log()
    logging.lastResort.emit(logging.makeLogRecord({"msg": HOSTILE, "levelno": logging.WARNING}))  # type: ignore[union-attr]
    printed = capsys.readouterr().err
    assert printed.count("title") == 4 and not OBEYED.search(printed)


@pytest.mark.parametrize("form", ("markdown", "csv"))
def test_numbers_for_other_programs_obey_nothing(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from density_study.analysis.report.formats import FORMATS
    from tests.support.summary_factory import one_block

    summary = one_block("nightly").model_copy(update={"study": HOSTILE})
    console.print_text(FORMATS[form](summary))
    printed = capsys.readouterr().out
    assert "title" in printed and not OBEYED.search(printed.replace("\r\n", "\n"))


def test_a_table_cell_is_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    console.out.print(rows_table(("a",), [(HOSTILE,)]))
    printed = capsys.readouterr().out
    assert "[/b][link=http://x]:skull:" in printed


@given(st.text())
def test_whatever_the_text_no_control_is_left(text: str) -> None:
    assert not OBEYED.search(plain(text).replace("\r\n", "\n"))
    document = json.dumps(text, ensure_ascii=False)
    assert json.loads(plain_json(document)) == text
