"""Exported tables: each row says which study, run and trial it belongs to, and none gets lost or doubled."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from density_study.cluster.model.errors import InputError, StudyError
from density_study.workloads.rows.export import KEYS, exported, sources, to_duckdb, to_parquet
from density_study.workloads.tables import BRING_UP, METRICS, TABLES, TRIALS, VERDICTS
from density_study.workloads.tables.arrow import arrow_schema
from density_study.workloads.tables.store import table_path, write_rows
from tests.support.made_runs.tables import FIRST, SECOND, run


@pytest.fixture
def both(tmp_path: Path) -> list[Path]:
    return [run(tmp_path, FIRST), run(tmp_path, SECOND)]


def test_every_table_carries_study_run_and_trial() -> None:
    for table in TABLES.values():
        wanted = exported(table)
        assert wanted.column_names[:3] == KEYS
        assert set(wanted.column_names) == {*KEYS, *table.column_names}
        assert len(wanted.column_names) == len(set(wanted.column_names))


def test_parquet_has_a_file_per_table_and_run(both: list[Path], tmp_path: Path) -> None:
    done = to_parquet(sources(both), tmp_path / "out")
    assert [each.rows["trials"] for each in done] == [2, 2]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(TABLES)
    for table in TABLES.values():
        folder = tmp_path / "out" / table.name
        names = [f"nightly.{FIRST}.parquet", f"nightly.{SECOND}.parquet"]
        assert sorted(path.name for path in folder.iterdir()) == names, "also if it is empty"
        assert pq.read_schema(folder / names[0]) == arrow_schema(exported(table))
    columns = ["study", "run", "trial", "verdict", "reasons"]
    verdicts = pq.read_table(tmp_path / "out" / "verdicts", columns=columns).to_pylist()
    expected = {"study": "nightly", "trial": "t1", "verdict": "valid", "reasons": ["a", "b"]}
    assert verdicts == [{**expected, "run": FIRST}, {**expected, "run": SECOND}]


def test_a_table_that_is_not_about_trials_has_null(both: list[Path], tmp_path: Path) -> None:
    to_parquet(sources(both[:1]), tmp_path / "out")
    (row,) = pq.read_table(tmp_path / "out" / "bring_up").to_pylist()
    assert (row["study"], row["run"], row["trial"], row["seconds"]) == ("nightly", FIRST, None, 1.5)


def test_rows_of_many_files_and_batches_all_arrive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("density_study.workloads.rows.export._ROWS_PER_BATCH", 7)
    values = [
        {"trial": "t1", "name": f"m{index:03}", "value": float(index)} for index in range(100)
    ]
    root = run(tmp_path, FIRST, metrics=values)
    part = table_path(root, METRICS) / "part-0.parquet"
    shutil.copy(part, part.with_name("part-1.parquet"))
    to_parquet(sources([root]), tmp_path / "out")
    found = pq.read_table(tmp_path / "out" / "metrics")
    assert found.num_rows == 200 and sum(found["value"].to_pylist()) == 2 * sum(range(100))


def test_exporting_a_run_again_replaces_its_rows(both: list[Path], tmp_path: Path) -> None:
    database, folder = tmp_path / "all.duckdb", tmp_path / "out"
    for _ in range(2):
        to_duckdb(sources(both), database)
        to_parquet(sources(both), folder)
    write_rows(both[0], VERDICTS, [{"trial": "t1", "verdict": "invalid"}])
    to_duckdb(sources(both[:1]), database)
    to_parquet(sources(both[:1]), folder)
    expected = [(FIRST, "invalid"), (SECOND, "valid")]
    asked = "SELECT run, verdict FROM {} ORDER BY run"
    with duckdb.connect(str(database)) as connection:
        assert connection.sql(asked.format("verdicts")).fetchall() == expected
        files = f"'{folder}/verdicts/*.parquet'"
        assert connection.sql(asked.format(files)).fetchall() == expected


def test_the_database_has_every_table_with_its_meaning_and_units(
    both: list[Path], tmp_path: Path
) -> None:
    (done,) = to_duckdb(sources(both[:1]), tmp_path / "all.duckdb")
    assert done.rows["trials"] == 2 and done.rows["metrics"] == 0
    with duckdb.connect(str(tmp_path / "all.duckdb")) as connection:
        tables = connection.sql("SELECT table_name, comment FROM duckdb_tables()").fetchall()
        assert dict(tables) == {name: table.meaning for name, table in TABLES.items()}
        columns = connection.sql(
            "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'bring_up'"
        ).fetchall()
    assert [name for name, _ in columns] == list(exported(BRING_UP).column_names)
    assert dict(columns)["seconds"].endswith("[s]")


def test_a_database_of_another_version_is_left_as_it_was(both: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "all.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE verdicts AS SELECT 1 AS other")
    with pytest.raises(InputError, match=r"'verdicts' of this database has other columns") as fault:
        to_duckdb(sources(both), path)
    assert fault.value.where == str(path) and "new file" in fault.value.remedy
    with duckdb.connect(str(path)) as connection:
        assert connection.sql("SHOW TABLES").fetchall() == [("verdicts",)]


def test_what_is_no_database_is_named_and_kept(both: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "all.duckdb"
    path.write_text("notes, not a database")
    with pytest.raises(InputError, match="DuckDB cannot write this database"):
        to_duckdb(sources(both), path)
    assert path.read_text() == "notes, not a database"
    with pytest.raises(InputError, match="DuckDB cannot write this database"):
        to_duckdb(sources(both), tmp_path / "nowhere" / "all.duckdb")


def test_a_failed_export_leaves_no_half_file(both: list[Path], tmp_path: Path) -> None:
    (part,) = table_path(both[1], VERDICTS).iterdir()
    part.write_bytes(part.read_bytes()[:-10])
    with pytest.raises(StudyError, match="the export stopped"):
        to_parquet(sources(both), tmp_path / "out")
    written = {path.name for path in (tmp_path / "out" / "verdicts").iterdir()}
    assert written == {f"nightly.{FIRST}.parquet"}
    with pytest.raises(InputError, match="DuckDB cannot write"):
        to_duckdb(sources(both), tmp_path / "all.duckdb")
    assert not (tmp_path / "all.duckdb").exists()


def test_a_file_is_no_folder(both: list[Path], tmp_path: Path) -> None:
    (tmp_path / "out.db").write_text("x")
    with pytest.raises(InputError, match="not a DuckDB database by its name"):
        to_parquet(sources(both), tmp_path / "out.db")
    with pytest.raises(StudyError, match="is not a folder"):
        to_parquet(sources(both), tmp_path / "out.db" / "below")


def test_no_export_goes_into_a_runs_own_tables(both: list[Path], tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(both[1])
    for folder in (both[0] / "tables", tmp_path / "link" / "tables"):
        with pytest.raises(InputError, match="whose tables the export would change"):
            to_parquet(sources(both), folder)
    assert [each.rows["trials"] for each in to_parquet(sources(both), tmp_path / "out")] == [2, 2]


def test_a_run_is_named_by_its_tables_and_exported_once(both: list[Path], tmp_path: Path) -> None:
    moved = tmp_path / "mail"
    shutil.move(both[0], moved)
    (one,) = sources([moved, tmp_path / "out" / ".." / "mail"])
    assert (one.study, one.run) == ("nightly", FIRST)


def test_runs_that_cannot_be_told_apart_are_refused(both: list[Path], tmp_path: Path) -> None:
    shutil.copytree(both[0], tmp_path / "copy")
    with pytest.raises(InputError, match="same study and id"):
        sources([both[0], tmp_path / "copy"])
    mixed = [{"study": "nightly", "run": name, "trial": name} for name in (FIRST, SECOND)]
    with pytest.raises(InputError, match="belong to 2 runs"):
        sources([run(tmp_path / "mixed", FIRST, trials=mixed)])
    odd = [{"study": "../../nightly", "run": FIRST, "trial": "t1"}]
    with pytest.raises(InputError, match="not names of a study and a run"):
        sources([run(tmp_path / "odd", FIRST, trials=odd)])


def test_a_run_that_is_not_analysed_is_named(both: list[Path]) -> None:
    shutil.rmtree(table_path(both[0], TRIALS))
    with pytest.raises(InputError, match=r"'trials' is not there") as fault:
        sources(both)
    assert fault.value.remedy == f"analyse it first: study report {both[0]}"
