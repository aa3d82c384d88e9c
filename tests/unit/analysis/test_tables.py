"""The table declarations, the source for Spark, Arrow and the documentation."""

from __future__ import annotations

import subprocess
import sys

import pytest

from density_study.workloads.tables import TABLES, Table
from density_study.workloads.tables.arrow import arrow_schema
from docs.generator.pages import pages

EVERY = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


@EVERY
def test_names_are_unique_and_key_columns_exist(table: Table) -> None:
    assert len(set(table.column_names)) == len(table.columns)
    assert table.key and set(table.key) <= set(table.column_names)


def test_every_number_with_a_unit_in_its_name_declares_it() -> None:
    endings = ("_mib", "_bytes", "_s", "_ms", "_us", "_ops_s", "_mib_s")
    numbers = {
        f"{table.name}.{column.name}": column.unit
        for table in TABLES.values()
        for column in table.columns
        if column.name.endswith(endings) and column.type in ("int", "long", "double")
    }
    assert len(numbers) > 40
    assert [name for name, unit in numbers.items() if not unit] == []


@EVERY
def test_arrow_has_every_column_in_order(table: Table) -> None:
    assert tuple(arrow_schema(table).names) == table.column_names


def test_the_page_names_every_table_and_column() -> None:
    page = pages()["tables.md"]
    assert len(TABLES) > 20
    for table in TABLES.values():
        assert f"## {table.name}\n" in page
        assert all(f"| {column.name} |" in page for column in table.columns)


def test_executors_import_no_heavy_package() -> None:
    heavy = "pandas", "pyspark", "great_expectations", "pydantic", "altair", "airflow"
    code = "import sys, density_study.jobs.ingest.parse_task; "
    code += f"print(*[m for m in {heavy!r} if m in sys.modules])"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.split() == []
