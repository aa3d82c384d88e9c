"""Arrow and DuckDB read dictionary-coded tables with their declared types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from density_study.jobs.ingest.parse_task import FROM_FILES
from density_study.workloads import tables
from density_study.workloads.rows.arrays.arrow_tables import (
    coded,
    coded_schema,
    with_codes,
    writer_of,
)
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_schema
from density_study.workloads.tables.store import dataset

VALUES: dict[Any, list[Any]] = {
    pa.string(): ["a", None, "a", "é" * 300],
    pa.int32(): [1, None, -3, 2**31 - 1],
    pa.int64(): [1, None, 2**63 - 1, 0],
    pa.float64(): [0.1, None, 1e300, -0.0],
    pa.bool_(): [True, None, False, True],
}


def rows_of(table: Table) -> pa.Table:
    columns: list[Any] = []
    for field in arrow_schema(table):
        lists = pa.types.is_list(field.type)
        values = VALUES[field.type.value_type if lists else field.type]
        columns.append(
            pa.array([values[:1], None, [], values[2:]] if lists else values, field.type)
        )
    return pa.Table.from_arrays(columns, schema=arrow_schema(table))


@pytest.mark.parametrize("table", FROM_FILES, ids=lambda table: table.name)
def test_a_table_survives_the_round_trip(table: Table, tmp_path: Path) -> None:
    rows = rows_of(table)
    path = tmp_path / "tables" / table.name / "part-0.parquet"
    path.parent.mkdir(parents=True)
    with path.open("wb") as sink, writer_of(table, sink) as writer:
        writer.write_table(with_codes(rows))
        writer.write_table(with_codes(rows.slice(2)))
    expected = [*rows.to_pylist(), *rows.slice(2).to_pylist()]
    assert dataset(tmp_path, table).to_table().to_pylist() == expected
    bare = pq.read_table(path)
    assert bare.to_pylist() == expected
    assert not any(pa.types.is_dictionary(field.type) for field in bare.schema)
    result = duckdb.read_parquet(str(path))
    assert [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()] == expected


def test_codes_of_different_texts_differ() -> None:
    column = coded(["b", "a", "b"], np.array([2, 0, 1]))
    assert column.to_pylist() == ["b", "b", "b"]
    assert column.dictionary.to_pylist() == ["b", "a"]
    assert column.type == coded_schema(tables.HOST_SAMPLES).field("trial").type
