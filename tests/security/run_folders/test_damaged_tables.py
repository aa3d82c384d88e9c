"""Tables of a stranger's run, which `study capacity fit --run` and others read: whole, or an error that names
them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from density_study.cluster.model.errors import StudyError
from density_study.workloads.tables import TRIALS
from density_study.workloads.tables.store import read_table, write_rows
from tests.security.outputs.damages import HOSTILE

pytestmark = pytest.mark.usefixtures("watchdog")


def half(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def other_types(path: Path) -> None:
    pq.write_table(pa.table({"trial": [1, 2], "run": [[1], None], "x": ["a", None]}), path)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "text": lambda path: path.write_text("hello"),
    "empty": lambda path: path.write_bytes(b""),
    "half": half,
    "another file": HOSTILE["link"],
    "other types": other_types,
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_table_is_named(how: str, tmp_path: Path) -> None:
    write_rows(tmp_path, TRIALS, [{"study": "s", "run": "r", "trial": "t"}])
    (part,) = (tmp_path / "tables" / TRIALS.name).glob("*.parquet")
    DAMAGES[how](part)
    with pytest.raises(StudyError, match="cannot be read") as caught:
        read_table(tmp_path, TRIALS)
    assert str(part.parent) in caught.value.where and "study report" in caught.value.remedy
    assert "root:" not in str(caught.value) and "\n" not in caught.value.what


@pytest.mark.parametrize("how", ["pipe", "device"])
def test_what_is_no_file_is_not_opened(how: str, tmp_path: Path) -> None:
    write_rows(tmp_path, TRIALS, [{"study": "s", "run": "r", "trial": "t"}])
    (part,) = (tmp_path / "tables" / TRIALS.name).glob("*.parquet")
    HOSTILE[how](part)
    try:
        assert read_table(tmp_path, TRIALS).empty
    except StudyError as error:
        assert str(part.parent) in error.where
