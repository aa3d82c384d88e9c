"""A map that contradicts its files: a run counted twice is refused, other numbers are told in a line each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from density_study.cluster.model.errors import InputError
from density_study.dags.cli.main import app
from tests.support.dool_texts import SAMPLES
from tests.support.records.testdfsio_result import DFSIO
from tests.support.records.ycsb_0_12 import SUMMARY, YCSB_0_12

LOADED = SUMMARY.replace("READ", "INSERT").replace("[UPDATE]", "[UPDATE-none]")
LOADED = "\n".join(line for line in LOADED.splitlines() if "none" not in line) + "\n"


def trial(workload: str, *files: str, more: str = "") -> str:
    return f"  - {workload}\n    exit_code: 0\n{more}    files: [{', '.join(files)}]\n"


def window(start: str, end: str) -> str:
    return f"    window: {{start: {start}, end: {end}}}\n"


def dry_run(folder: Path, *trials: str) -> list[list[str]]:
    """The doubts about each trial."""
    (folder / "map.yaml").write_text("study: x\ntime_zone: UTC\ntrials:\n" + "".join(trials))
    done = CliRunner().invoke(app, ["import", str(folder), "--dry-run", "--json"])
    if done.exception is not None:
        raise done.exception
    return [one["doubts"] for one in json.loads(done.output)["trials"]]


def files(folder: Path, **texts: str | bytes) -> None:
    for name, text in texts.items():
        data = text if isinstance(text, bytes) else text.encode()
        (folder / name.replace("_", ".")).write_bytes(data)


YCSB, JOB = "ycsb: {mix: a}", "testdfsio: {}"
HISTORY = (SAMPLES / "TestDFSIO-3.4.2_write.jhist").read_bytes()
LOG = (SAMPLES / "ycsb-0.17.0_hdrhistogram-2.2.2_READ.hdr").read_bytes()


@pytest.mark.parametrize(
    ("workload", "texts"),
    [
        (YCSB, {"a_out": SUMMARY, "b_out": SUMMARY}),
        (YCSB, {"a_out": SUMMARY, "b_out": f"+ ycsb run\n{YCSB_0_12}"}),
        (JOB, {"a_log": DFSIO, "b_log": DFSIO}),
        ("testdfsio: {mode: write}", {"a_jhist": HISTORY, "b_jhist": HISTORY}),
        (YCSB, {"a-READ_hdr": LOG, "b-READ_hdr": LOG}),
    ],
)
def test_a_copy_is_no_second_run(
    tmp_path: Path, workload: str, texts: dict[str, str | bytes]
) -> None:
    files(tmp_path, **texts)
    first, later = (name.replace("_", ".") for name in texts)
    with pytest.raises(
        InputError, match=f"{later}.* is a copy of {first}, which is in trials.0"
    ) as caught:
        dry_run(tmp_path, trial(workload, first), trial(workload, later))
    assert "trials[1].files[0]" in caught.value.where
    assert caught.value.remedy == "leave one of them out: it is one run."


def test_a_result_of_another_time_zone_has_no_window_by_the_maps(tmp_path: Path) -> None:
    files(tmp_path, a_log=DFSIO.replace(" UTC ", " CEST "))
    with pytest.raises(InputError, match="is printed as CEST, and time_zone has UTC then"):
        dry_run(tmp_path, trial(JOB, "a.log"))
    own = window("2021-05-20T08:09:56Z", "2021-05-20T08:11:12Z")
    assert len(dry_run(tmp_path, trial(JOB, "a.log", more=own))) == 1


def test_a_copy_is_no_second_client(tmp_path: Path) -> None:
    files(tmp_path, a_out=SUMMARY, b_out=SUMMARY)
    with pytest.raises(InputError, match=r"b\.out is a copy of a\.out"):
        dry_run(tmp_path, trial(YCSB, "a.out", "b.out"))


def test_runs_that_differ_in_one_number_are_two(tmp_path: Path) -> None:
    files(tmp_path, a_out=SUMMARY, b_out=SUMMARY.replace("(us), 2.0", "(us), 2.1", 1))
    assert dry_run(tmp_path, trial(YCSB, "a.out"), trial(YCSB, "b.out")) == [[], []]


@pytest.mark.parametrize(
    ("workload", "name", "data", "old", "new"),
    [
        (YCSB, "-READ.hdr", LOG, b"[StartTime: 1", b"[StartTime: 2"),
        ("testdfsio: {mode: write}", ".jhist", HISTORY, b"job_1", b"job_2"),
    ],
)
def test_logs_and_histories_that_differ_are_of_two_runs(
    tmp_path: Path, workload: str, name: str, data: bytes, old: bytes, new: bytes
) -> None:
    assert old in data
    files(tmp_path, **{f"a{name}": data, f"b{name}": data.replace(old, new)})
    assert len(dry_run(tmp_path, trial(workload, f"a{name}"), trial(workload, f"b{name}"))) == 2


@pytest.mark.parametrize(
    ("text", "workload", "said", "words"),
    [
        (SUMMARY, YCSB, ("12:00:00Z", "12:00:03Z"), "window: 3 s in the map, and the run took 10 s"),
        (SUMMARY, YCSB, ("12:00:00Z", "13:00:00Z"), "window: 3,600 s in the map, and the run took 10 s"),
        (YCSB_0_12, YCSB, ("11:00:00Z", "11:00:12Z"),
         "window: the map's lies 3,588 s before that of the status lines (about 1 s)"),
        (YCSB_0_12, YCSB, ("13:00:00Z", "13:00:12Z"),
         "window: the map's lies 3,590 s after that of the status lines (about 1 s)"),
        (SUMMARY, "ycsb: {mix: c}", (), "mix: c is READ 100%, and the output counts READ 50%, UPDATE 50%"),
        (SUMMARY, "ycsb: {mix: a, operations: 1000}", (),
         "operations: 1,000 in the map, and ycsb-1 counts 2,000"),
        (SUMMARY.replace("10000.0", "60000.0"), "ycsb: {mix: a, duration: 30 s}", (),
         "duration: 30 s in the map, and ycsb-1 ran for 60 s"),
        (LOADED, "ycsb: {mix: load, records: 500}", (), "records: 500 in the map, and 990 were loaded"),
        (DFSIO, "testdfsio: {files: 5}", (), "files: 5 in the map, and the result is of 10"),
        (DFSIO, "testdfsio: {file_size: 128 MiB}", (),
         "file_size: 128 MiB in the map, and the job processed 1,024 MiB per file"),
    ],
)  # fmt: skip
def test_what_no_check_sees_is_told(
    tmp_path: Path, text: str, workload: str, said: tuple[str, ...], words: str
) -> None:
    files(tmp_path, a_out=text)
    more = window(*(f"2017-03-01T{at}" for at in said)) if said else ""
    assert dry_run(tmp_path, trial(workload, "a.out", more=more)) == [[words]]


@pytest.mark.parametrize(
    ("text", "workload", "said"),
    [
        (YCSB_0_12, "ycsb: {mix: a, operations: 2000}", ("2017-03-01T12:00:00Z", "2017-03-01T12:00:14Z")),
        (SUMMARY, "ycsb: {mix: a, operations: 4000, duration: 10 s}", ()),
        (SUMMARY, "ycsb: {mix: of-ours}", ()),
        (SUMMARY, "ycsb: {mix: a, records: 500}", ()),
        (LOADED, "ycsb: {mix: load, records: 990}", ()),
        (DFSIO, "testdfsio: {files: 10, file_size: 1 GiB}", ()),
        (DFSIO.replace(": write", ": random read"), "testdfsio: {file_size: 4 GiB}", ()),
    ],
)  # fmt: skip
def test_what_agrees_is_not_doubted(
    tmp_path: Path, text: str, workload: str, said: tuple[str, ...]
) -> None:
    files(tmp_path, a_out=text)
    more = window(*said) if said else ""
    assert dry_run(tmp_path, trial(workload, "a.out", more=more)) == [[]]


def test_a_share_of_few_operations_may_be_far_from_that_of_its_mix(tmp_path: Path) -> None:
    few = SUMMARY.replace("990", "44").replace("1010", "56")
    files(tmp_path, a_out=few)
    assert dry_run(tmp_path, trial(YCSB, "a.out")) == [[]]


@pytest.mark.parametrize("year", ["0001", "1970", "9999"])
def test_a_window_in_no_year_of_a_cluster_is_refused(tmp_path: Path, year: str) -> None:
    files(tmp_path, a_out=SUMMARY)
    more = window(f"{year}-03-01T12:00:00Z", "2019-03-01T12:00:12Z")
    with pytest.raises(InputError, match="is not a time from 2001 to 2103") as caught:
        dry_run(tmp_path, trial(YCSB, "a.out", more=more))
    assert "map.yaml:6, key trials[0].window.start" in caught.value.where


def test_doubts_are_printed_below_the_trials(tmp_path: Path) -> None:
    files(tmp_path, a_out=SUMMARY)
    dry_run(tmp_path, trial("ycsb: {mix: c}", "a.out"))
    done = CliRunner().invoke(app, ["import", str(tmp_path), "--dry-run"])
    (line,) = (one for one in done.output.splitlines() if one.startswith("doubt    "))
    assert "-000-ycsb-c" in line and ": mix: c is READ 100%, and the output counts READ 50%" in line
