"""Tables are replaced completely or not at all."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from density_study.cluster.model.errors import StudyError
from density_study.workloads.tables import BRING_UP, VERDICTS
from density_study.workloads.tables.store import (
    read_table,
    replace,
    table_path,
    write_rows,
    write_table,
)


def _verdicts(*trials: str) -> pd.DataFrame:
    rows = [{"trial": trial, "verdict": "valid", "reasons": ["a", "b"]} for trial in trials]
    return pd.DataFrame(rows, columns=list(VERDICTS.column_names))


def test_rows_are_returned_in_key_order(tmp_path: Path) -> None:
    write_table(tmp_path, VERDICTS, _verdicts("c", "a", "b"))
    assert list(read_table(tmp_path, VERDICTS)["trial"]) == ["a", "b", "c"]
    assert list(read_table(tmp_path, VERDICTS)["reasons"].iloc[0]) == ["a", "b"]


def test_an_empty_table_keeps_its_columns(tmp_path: Path) -> None:
    write_table(tmp_path, VERDICTS, _verdicts())
    assert tuple(read_table(tmp_path, VERDICTS).columns) == VERDICTS.column_names


def test_a_missing_field_is_null(tmp_path: Path) -> None:
    write_rows(tmp_path, BRING_UP, [{"build": "b1", "position": 0}])
    assert pd.isna(read_table(tmp_path, BRING_UP)["seconds"].iloc[0])


def test_a_failed_write_leaves_the_table_as_it_was(tmp_path: Path) -> None:
    write_table(tmp_path, VERDICTS, _verdicts("a"))

    def fails(folder: Path) -> None:
        folder.mkdir()
        (folder / "half").write_text("x")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        replace(tmp_path, VERDICTS, fails)
    assert list(read_table(tmp_path, VERDICTS)["trial"]) == ["a"]
    write_table(tmp_path, VERDICTS, _verdicts("b"))
    assert [path.name for path in table_path(tmp_path, VERDICTS).parent.iterdir()] == ["verdicts"]


def test_a_missing_table_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"'verdicts' is not there.*study report"):
        read_table(tmp_path, VERDICTS)
