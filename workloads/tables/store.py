"""Where a run's tables lie, and how one is written so that a reader sees the old or the new, whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from density_study.cluster.model.errors import StudyError
from density_study.cluster.old_names import present_key
from density_study.cluster.state.plain_file import NotPlainError
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_schema
from density_study.workloads.tables.storage import arrow_source, is_local, remove

if TYPE_CHECKING:  # executors load this module, and have no pandas
    import pandas as pd

_RENAMES_AT_ONCE = 16


def table_path(run_root: Path, table: Table) -> Path:
    """The folder of Parquet files that holds `table`."""
    return run_root / "tables" / table.name


def require(run_root: Path, table: Table) -> Path:
    """The table's folder. StudyError if it has not been made yet, or leads out of the run."""
    path = table_path(run_root, table)
    for folder in (path, path.parent) if is_local(run_root) else ():
        if folder.is_symlink():
            raise NotPlainError(folder, "a symbolic link")
    if not path.is_dir():
        raise StudyError(
            f"the table {table.name!r} is not there.",
            str(path),
            f"run the analysis from its start: study report {quote(str(run_root))}.",
        )
    return path


def replace(run_root: Path, table: Table, write: Callable[[Path], None]) -> None:
    """Let `write` fill a folder aside, then give it the table's name. A crash between the two
    renames leaves no table of that name, which the next analysis makes again; never half of one."""
    path = table_path(run_root, table)
    aside = path.with_name(f".{table.name}.{os.getpid()}.new")
    before = path.with_name(f".{table.name}.{os.getpid()}.old")
    for leftover in path.parent.glob(f".{table.name}.*"):
        remove(leftover)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(aside)
    if path.exists():
        path.rename(before)
    aside.rename(path)
    with suppress(OSError):  # the table is there; the next writing removes what is left of the old
        remove(before)


@contextmanager
def staging(run_root: Path) -> Iterator[Path]:
    """An empty folder beside the tables, where tasks write their parts. What a crash leaves there, the next
    one removes."""
    folder = run_root / "tables" / ".staging"
    remove(folder)
    folder.mkdir(parents=True)
    yield folder
    remove(folder)


def take_parts(parts: Sequence[Path], folder: Path) -> None:
    """Make files that tasks wrote elsewhere the files of a table's new folder, in this order."""
    folder.mkdir(parents=True)
    names = [folder / f"part-{number:05d}.parquet" for number in range(len(parts))]
    with ThreadPoolExecutor(_RENAMES_AT_ONCE) as pool:
        list(pool.map(lambda part, name: part.rename(name), parts, names))


def dataset(run_root: Path, table: Table) -> ds.Dataset:
    """The table for Arrow, to be read a batch at a time. It must be there."""
    location, filesystem = arrow_source(table_path(run_root, table))
    return ds.dataset(location, arrow_schema(table), format="parquet", filesystem=filesystem)


def read_table(run_root: Path, table: Table) -> pd.DataFrame:
    """A whole table as pandas, rows in the order of its key. For small tables: a row per trial."""
    frame: pd.DataFrame = read_arrow(run_root, table).to_pandas()
    return frame


def read_arrow(run_root: Path, table: Table) -> pa.Table:
    """The table of a run in Arrow's form. StudyError if it is not there, or is damaged."""
    path = require(run_root, table)
    try:
        return _rows(run_root, table).sort_by([(name, "ascending") for name in table.key])
    except (OSError, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.errno:  # a fault of the disk, not of the content
            raise
        raise StudyError(
            f"the table {table.name!r} cannot be read: {' '.join(str(error).split())[:200]}.",
            str(path),
            f"make it again from the records: study report {quote(str(run_root))}.",
        ) from error


def _rows(run_root: Path, table: Table) -> pa.Table:
    schema = arrow_schema(table)
    location, filesystem = arrow_source(table_path(run_root, table))
    names = ds.dataset(location, format="parquet", filesystem=filesystem).schema.names
    # columns of an earlier version have old names; those that it lacked are null
    columns = {present_key(old, schema.names): ds.field(old) for old in names}
    if set(columns) == set(names):
        return dataset(run_root, table).to_table()
    rows = ds.dataset(location, format="parquet", filesystem=filesystem).to_table(columns)
    whole = pa.concat_tables([schema.empty_table(), rows], promote_options="default")
    return whole.select(schema.names)


def write_table(run_root: Path, table: Table, frame: pd.DataFrame) -> None:
    """Write a small table from pandas, rows in the order of its key."""
    schema = arrow_schema(table)
    write_arrow(
        run_root, table, pa.Table.from_pandas(frame[schema.names], schema, preserve_index=False)
    )


def write_rows(run_root: Path, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a small table from its rows; a column that a row does not name is null."""
    write_arrow(run_root, table, pa.Table.from_pylist(list(rows), arrow_schema(table)))


def write_parquet(rows: pa.Table, path: Path) -> None:
    with path.open("wb") as sink:
        pq.write_table(rows, sink)


def ordered(table: Table, rows: pa.Table) -> pa.Table:
    """Rows with the table's types, in the order of its key."""
    typed = rows.cast(arrow_schema(table))
    return typed.sort_by([(name, "ascending") for name in table.key])


def write_arrow(run_root: Path, table: Table, rows: pa.Table) -> None:
    """Write a small table, rows in the order of its key."""
    rows = ordered(table, rows)

    def write(folder: Path) -> None:
        folder.mkdir()
        write_parquet(rows, folder / "part-0.parquet")

    replace(run_root, table, write)
