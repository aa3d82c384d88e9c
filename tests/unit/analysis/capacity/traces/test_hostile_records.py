"""Records that were made to cost time or to break the reader: refused soon, with the file."""

from __future__ import annotations

import csv
import json
import os
import time
from pathlib import Path

import pytest

from density_study.analysis.capacity.traces import readers
from density_study.analysis.capacity.traces.profiled import write_profile
from density_study.analysis.capacity.traces.source import Source
from density_study.cluster.model.errors import InputError

HEAD = "name\tstatus\trealtime\t%cpu\tcpus\tmemory\tpeak_rss\trchar\twchar\tsubmit\tduration\n"


def row(name: str) -> str:
    cells = (name, "COMPLETED", "1h", "100%", "1", "1 GB", "1 GB", "1 GB", "1 GB",
             "2024-01-01 00:00:00.000", "1h")  # fmt: skip
    return "\t".join(cells) + "\n"


def deep(key: str) -> str:
    """Metadata of Cromwell with lists in lists."""
    call = {
        "shardIndex": 0,
        "executionStatus": "Done",
        "executionEvents": [{"description": "DEEP"}],
    }
    text = json.dumps(
        {"workflowName": "w", "calls": {"w.a": [{**call, key: "DEEP"}]}, "status": "Done"}
    )
    return text.replace('"DEEP"', "[" * 5000 + "]" * 5000)


HOSTILE = {
    "a process for each job": (
        "more than 1,000 processes",
        HEAD + "".join(map(row, map(str, range(3000)))),
    ),
    "a long name": ("control characters or a name of more", HEAD + row("n" * 100_000)),
    "many colons": ("control characters or a name of more", HEAD + row(":" * 200_000 + "a")),
    "orders to a terminal": ("control characters or a name of more", HEAD + row("\x1b]0;x\x07")),
    "a call of Cromwell": (
        "the call sort cannot be parsed",
        '{"workflowName": "w", "calls": {"w.sort": [{"shardIndex": -1, "runtimeAttributes": "4 cores", '
        '"executionStatus": "Done"}]}}',
    ),
    "a job of Galaxy": (
        "the job 7 cannot be parsed",
        '[{"id": 7, "tool_id": "sort", "state": "ok", "job_metrics": [5]}]',
    ),
    "lists in lists": ("nested too deeply|cannot be parsed", deep("executionStatus")),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_record_is_refused_soon(name: str, tmp_path: Path) -> None:
    reason, text = HOSTILE[name]
    path = tmp_path / "record"
    path.write_text(text)
    begun_s = time.process_time()
    with pytest.raises(InputError, match=reason) as caught:
        write_profile([path], 1, tmp_path / "profile.yaml")
    assert time.process_time() - begun_s < 10
    assert str(path) in caught.value.where and "\x1b" not in str(caught.value)
    assert not (tmp_path / "profile.yaml").exists()


def test_a_table_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("density_study.analysis.capacity.traces.source.MOST_LINES", 50)
    path = tmp_path / "trace.txt"
    path.write_text(HEAD + row("a") * 100)
    with pytest.raises(InputError, match="too many lines"):
        readers.read_traces([path])


@pytest.mark.parametrize("genomes", [0, -1, 10**9, 10**400])
def test_a_number_of_genomes_that_nobody_has_is_refused(genomes: int, tmp_path: Path) -> None:
    (tmp_path / "trace.txt").write_text(HEAD + row("a"))
    with pytest.raises(InputError, match="number of genomes"):
        write_profile([tmp_path / "trace.txt"], genomes, tmp_path / "profile.yaml")


def test_a_file_whose_name_is_no_text_is_read(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"trace-\xff.txt")
    path.write_text(HEAD + row("a"))
    write_profile([path], 1, tmp_path / "profile.yaml")
    assert "trace-?.txt" in (tmp_path / "profile.yaml").read_text()


def test_long_cells_are_read_without_a_word_to_other_readers(tmp_path: Path) -> None:
    """The limit of a cell is one of the whole process."""
    file, former = tmp_path / "long.tsv", csv.field_size_limit()
    file.write_text(f"a\tb\n{'x' * 2 * former}\t1\n", "utf-8")
    ((_, found),) = Source(file).table("\t")
    assert len(found["a"]) == 2 * former
    assert csv.field_size_limit() == former
