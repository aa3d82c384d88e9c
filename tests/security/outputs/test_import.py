"""A folder from a stranger: its names run nowhere, its links lead nowhere, its sizes are bounded."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from density_study.cluster.model.errors import InputError
from density_study.cluster.state.atomic import create_text
from density_study.dags.cli.main import app
from density_study.workloads.imports import recognise as recognising
from density_study.workloads.imports.draft_map import draft_map
from density_study.workloads.imports.recognise import recognise, recognise_all
from tests.support.dool_texts import SAMPLES
from tests.support.hostile.files import HOSTILE
from tests.support.records.ycsb_0_12 import SUMMARY

NAMES = (
    "$(touch made);$(id>&2).csv",
    "`touch made`.csv",
    "a\n$(touch made)\n.csv",
    "'$(touch made)'.csv",
    '"; touch made; ".csv',
    "&x *y !!python/object.csv",
    "a: b # c.csv",
    "\x1b[31m\u202e.csv",
    "${IFS}touch${IFS}made.csv",
    "!touch made.csv",
    "[0].csv",
)


def _folder(tmp_path: Path) -> Path:
    folder = tmp_path / "of-others"
    folder.mkdir()
    for number, name in enumerate(NAMES):
        sample = "dool-1.3.8.csv" if number % 2 else "dstat-0.7.3.csv"
        (folder / name.replace("/", "_")).write_bytes((SAMPLES / sample).read_bytes())
    (folder / "$(touch made).out").write_text(SUMMARY)
    (folder / "$(touch made).bad").write_text(SUMMARY[: len(SUMMARY) // 2])
    return folder


def test_a_drafted_map_is_no_shell_script_and_names_every_file(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    text = draft_map("x", recognise_all(folder))
    read = yaml.safe_load(text)
    (trial,) = read["trials"]
    assert "$(touch made).out" in trial["files"]
    script = tmp_path / "profile"
    script.write_text(text)
    at = tmp_path / "at"
    at.mkdir()
    for shell in ("bash", "sh"):
        subprocess.run([shell, str(script)], cwd=at, capture_output=True, check=False, timeout=30)
        assert list(at.iterdir()) == []


@pytest.mark.parametrize("target", ("profile", "none"))
def test_a_draft_is_written_through_no_link(tmp_path: Path, target: str) -> None:
    folder = _folder(tmp_path)
    (tmp_path / "profile").write_text("kept")
    (folder / "map.yaml").symlink_to(tmp_path / target)
    done = CliRunner().invoke(app, ["import", str(folder), "--init"])
    assert isinstance(done.exception, InputError) and "exists" in done.exception.what
    assert sorted(path.name for path in tmp_path.iterdir()) == ["of-others", "profile"]
    assert (tmp_path / "profile").read_text() == "kept"
    with pytest.raises(FileExistsError):  # a link made after the look
        create_text(folder / "map.yaml", "x")
    done = CliRunner().invoke(app, ["import", str(folder), "--dry-run"])
    assert isinstance(done.exception, InputError) and "link" in done.exception.what


def test_a_name_with_signs_of_a_pattern_is_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    (folder / "run[1].out").write_text(SUMMARY)
    (folder / "map.yaml").write_text(
        "study: x\ntrials:\n  - repetition: 1\n    ycsb: {mix: a}\n    exit_code: 0\n"
        "    window: {start: 2019-03-01T12:00:00Z, end: 2019-03-01T12:05:00Z}\n    files: ['run[1].out']\n"
    )
    done = CliRunner().invoke(app, ["import", str(folder), "--dry-run"])
    assert done.exit_code == 0, done.exception


@pytest.mark.parametrize("kind", ("pipe", "link", "device"))
def test_only_plain_files_are_read(tmp_path: Path, kind: str) -> None:
    HOSTILE[kind](tmp_path / "f")
    found = recognise_all(tmp_path)
    assert [one for one in found.values() if one.pieces] == []
    assert list(found) == ([] if kind == "pipe" else ["f"])  # links are refused by name
    assert "f" in str(recognise(tmp_path, "f").refused[0])


LIMITED = """
import resource, sys, time
from pathlib import Path
from density_study.workloads.imports.recognise import recognise
begun_kib, begun_s = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
found = recognise(Path(sys.argv[1]), "big")
peak_mib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begun_kib) / 1024
print(peak_mib, time.process_time() - begun_s, len(found.pieces), [str(one)[:80] for one in found.refused])
"""


def _measured(folder: Path) -> tuple[float, float, str]:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(folder)], capture_output=True, text=True, check=True
    )
    mib, seconds, rest = done.stdout.split(" ", 2)
    return float(mib), float(seconds), rest


def test_text_of_no_known_format_costs_its_size_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"a\n" * 2**24)  # 32 MiB
    mib, seconds, found = _measured(tmp_path)
    assert mib < 100 and seconds < 5, (mib, seconds)
    assert found == "0 []\n"


def test_too_many_lines_are_refused_before_they_are_split(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(SUMMARY.encode() + b"a\n" * 2**22)
    mib, seconds, found = _measured(tmp_path)
    assert mib < 100 and seconds < 5 and "cut out the part" in found


def test_many_runs_take_time_as_they_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recognising, "MAX_PARTS", 200)
    (tmp_path / "f").write_text(SUMMARY * 300)
    begun_s = time.process_time()
    found = recognise(tmp_path, "f")
    assert time.process_time() - begun_s < 5
    assert len(found.pieces) == 200 and "more than 200 runs" in str(found.refused[0])
