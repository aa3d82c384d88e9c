"""The tables of several runs in one place, each row with its study, run and trial, for other programs.

As Parquet, each table of each run is a file, `<folder>/<table>/<study>.<run>.parquet`. In DuckDB each table
is one table. Exporting a run again replaces its rows and leaves those of other runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.providers.simulated import is_rehearsal, refused
from density_study.cluster.state.atomic import replacing
from density_study.cluster.state.file_fault import file_fault, full_disk
from density_study.cluster.state.plain_file import NotPlainError
from density_study.workloads.rows.every_table import every_table
from density_study.workloads.tables import TRIALS, Column, Table
from density_study.workloads.tables.arrow import arrow_schema
from density_study.workloads.tables.store import dataset, require

if TYPE_CHECKING:
    import duckdb

DUCKDB = ".duckdb"
"""Suffix of a file that is a DuckDB database."""
KEYS = ("study", "run", "trial")
_MEANINGS = {
    "study": "study's name",
    "run": "run's id",
    "trial": "null: the rows of this table are not about single trials",
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,120}", re.ASCII)
_ROWS_PER_BATCH = 100_000


@dataclass(frozen=True)
class Source:
    """An analysed run, and the names under which its rows are exported."""

    root: Path
    study: str
    run: str


@dataclass(frozen=True)
class Exported:
    """A run, and how many rows of each table were exported."""

    source: Source
    rows: dict[str, int]


@cache
def exported(table: Table) -> Table:
    """`table` as it is exported: study, run and trial are its first columns."""
    own = {column.name: column for column in table.columns}
    keys = tuple(own.get(name, Column(name, "string", "", _MEANINGS[name])) for name in KEYS)
    others = tuple(column for column in table.columns if column.name not in KEYS)
    key = ("study", "run", *(name for name in table.key if name not in ("study", "run")))
    return replace(table, key=key, columns=(*keys, *others))


def sources(roots: Sequence[Path]) -> tuple[Source, ...]:
    """The runs in the folders `roots`, each once. InputError if one has no tables, or if two that are
    different have the same name."""
    found: dict[tuple[str, str], Source] = {}
    for root in dict.fromkeys(path.resolve() for path in roots):
        source = _source(root)
        earlier = found.setdefault((source.study, source.run), source)
        if earlier is not source:
            raise InputError(
                f"this run has the same study and id as {earlier.root}.",
                str(root),
                "export one of them.",
            )
    return tuple(found.values())


def _source(root: Path) -> Source:
    """The run's names, from its own table of trials: the folder may have been copied or renamed. InputError
    for a rehearsal: most rows do not say that they are simulated."""
    for table in every_table().values():
        try:
            require(root, table)
        except NotPlainError:
            raise
        except StudyError as error:
            raise InputError(
                error.what, error.where, f"analyse it first: study report {quote(str(root))}"
            ) from error
    rows = dataset(root, TRIALS).to_table(columns=["study", "run", "provider"]).to_pylist()
    if any(is_rehearsal(row["provider"]) for row in rows):
        raise refused(str(root))
    names = {(row["study"], row["run"]) for row in rows}
    if len(names) != 1:
        raise InputError(
            f"its trials belong to {len(names)} runs, not to one.",
            str(root),
            f"make its tables again from its own records: study report {quote(str(root))}.",
        )
    ((study, run),) = names
    if not (_NAME.fullmatch(study) and _NAME.fullmatch(run)):
        raise InputError(
            f"{study!r} and {run!r} are not names of a study and a run.",
            str(root),
            f"make its tables again from its own records: study report {quote(str(root))}.",
        )
    return Source(root, study, run)


def to_parquet(runs: Sequence[Source], folder: Path) -> tuple[Exported, ...]:
    """Write each table of each run as a file below `folder`, each one whole or not at all.

    StudyError if a table cannot be read or written.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(
            "this is a file, and not a DuckDB database by its name.",
            str(folder),
            f"name a folder, or a file that ends in {DUCKDB}.",
        )
    if any(folder.resolve().is_relative_to(run.root) for run in runs):
        raise InputError(
            "this is in the folder of a run, whose tables the export would change.",
            str(folder),
            "name a folder outside of it.",
        )
    try:
        return tuple(
            Exported(
                run, {table.name: _to_file(run, table, folder) for table in every_table().values()}
            )
            for run in runs
        )
    except (OSError, pa.ArrowException) as error:
        raise file_fault(error) or StudyError(
            f"the export stopped: {error}",
            str(folder),
            "name a folder that you can write to. Write a damaged table again: `study report` with the run.",
        ) from error


def _to_file(run: Source, table: Table, folder: Path) -> int:
    path = folder / table.name / f"{run.study}.{run.run}.parquet"
    rows = 0
    with replacing(path) as aside, pq.ParquetWriter(aside, arrow_schema(exported(table))) as writer:
        for batch in _batches(run, table):
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


def to_duckdb(runs: Sequence[Source], path: Path) -> tuple[Exported, ...]:
    """Write all tables of all runs into the database `path`: all of them or nothing."""
    import duckdb

    is_new = not path.exists()
    done = []
    try:
        with duckdb.connect(str(path)) as connection:
            connection.begin()
            for table in every_table().values():
                _create(table, connection, path)
            for run in runs:
                rows = {
                    table.name: _insert(run, table, connection) for table in every_table().values()
                }
                done.append(Exported(run, rows))
            connection.commit()
    except BaseException as error:
        if is_new:
            path.unlink(missing_ok=True)
        if not isinstance(error, duckdb.Error):
            raise
        if full := full_disk(path.parent):
            raise full from error
        raise InputError(
            f"DuckDB cannot write this database: {str(error).splitlines()[0]}",
            str(path),
            "name a file that no other program has open, or a new one.",
        ) from error
    return tuple(done)


def _create(table: Table, connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Create a table that is not there. InputError if one with other columns is."""
    wanted = exported(table)
    connection.register("none", arrow_schema(wanted).empty_table())
    connection.execute(f'CREATE TABLE IF NOT EXISTS "{table.name}" AS SELECT * FROM none')
    connection.unregister("none")
    found = connection.execute(f'DESCRIBE "{table.name}"').fetchall()
    if tuple(row[0] for row in found) != wanted.column_names:
        raise InputError(
            f"the table {table.name!r} of this database has other columns: another version wrote it.",
            str(path),
            "export all runs into a new file.",
        )
    _comment(wanted, connection)


def _insert(run: Source, table: Table, connection: duckdb.DuckDBPyConnection) -> int:
    """Insert the run's rows in place of those that are there. Returns their number."""
    connection.execute(
        f'DELETE FROM "{table.name}" WHERE study = ? AND run = ?', [run.study, run.run]
    )
    schema = arrow_schema(exported(table))
    connection.register("rows", pa.RecordBatchReader.from_batches(schema, _batches(run, table)))
    inserted = connection.execute(f'INSERT INTO "{table.name}" SELECT * FROM rows').fetchone()
    connection.unregister("rows")
    return int(inserted[0]) if inserted else 0


def _comment(table: Table, connection: duckdb.DuckDBPyConnection) -> None:
    """Store meanings and units with the table, where `DESCRIBE` and other tools find them."""
    connection.execute(f'COMMENT ON TABLE "{table.name}" IS {_quoted(table.meaning)}')
    for column in table.columns:
        text = f"{column.meaning} [{column.unit}]" if column.unit else column.meaning
        connection.execute(f'COMMENT ON COLUMN "{table.name}"."{column.name}" IS {_quoted(text)}')


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _batches(run: Source, table: Table) -> Iterator[pa.RecordBatch]:
    """The rows of a table with their study and run, a batch at a time."""
    schema = arrow_schema(exported(table))
    own = set(table.column_names)
    for batch in dataset(run.root, table).to_batches(batch_size=_ROWS_PER_BATCH):
        constant = {"study": run.study, "run": run.run, "trial": None}
        columns = [
            batch.column(name)
            if name in own
            else pa.array([constant[name]] * batch.num_rows, pa.string())
            for name in schema.names
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
