"""The tools' raw files as Spark data sources, for a notebook, Spark Connect or `spark-shell`:

    from density_study.jobs.sources import register

    register(spark)
    samples = spark.read.format("dool").load("records/*/monitor/*.dool.csv")
    refused = spark.read.format("dool").option("table", "quarantine").load("records/*/monitor/*.dool.csv")

The sources use the readers of ingest (`workloads.rows.file_tables`). They read the files of every tool from
any filesystem that fsspec supports, and need no manifest. The columns are those of
docs/reference/tables.md, with `file` (the path) instead of trial, host and client. A malformed line
becomes a row of the table `quarantine`, never a number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import ClassVar

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from density_study.jobs.ingest.ingest import task_groups
from density_study.jobs.spark.run_tables import struct
from density_study.workloads import tables
from density_study.workloads.monitors import WATCHING
from density_study.workloads.monitors.devices import devices
from density_study.workloads.rows.file_tables import tables_of
from density_study.workloads.rows.raw.raw_files import RawFile
from density_study.workloads.tables import Table
from density_study.workloads.tables.storage import expanded

FILE, KNOWN_BY_MANIFEST = "file", ("trial", "host", "client")
_CORES = 8  # the number of cores is not known where files are listed
_ROWS_PER_BATCH = 20_000


class _Files(InputPartition):
    def __init__(self, files: Sequence[RawFile]) -> None:
        self.files = files


class _Reader(DataSourceReader):
    def __init__(
        self, kind: str, table: Table, patterns: Sequence[str], schema: StructType
    ) -> None:
        self.kind, self.table, self.patterns, self.schema = kind, table, patterns, schema

    def partitions(self) -> list[InputPartition]:
        paths = [path for pattern in self.patterns for path in expanded(pattern)]
        if not paths:
            raise FileNotFoundError(f"no file matches {', '.join(self.patterns)}")
        files = [
            RawFile("", self.kind, "", str(path), str(path), bytes=path.stat().st_size)
            for path in paths
        ]
        return [_Files(group) for group in task_groups(files, _CORES)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Files)
        schema = to_arrow_schema(self.schema)
        for file in partition.files:
            for table, rows in tables_of([file]):
                if table.name == self.table.name:
                    paths = pa.array([file.path] * len(rows), pa.string())
                    columns = [paths if n == FILE else rows[n] for n in schema.names]
                    named = pa.Table.from_arrays(columns, schema.names).cast(schema)
                    yield from named.to_batches(max_chunksize=_ROWS_PER_BATCH)


class RawFiles(DataSource):
    """A kind of raw files. Option `table`: which of the kind's `TABLES`, by default the first."""

    KIND: ClassVar[str]
    TABLES: ClassVar[tuple[Table, ...]]

    @classmethod
    def name(cls) -> str:
        return cls.KIND

    @property
    def table(self) -> Table:
        made = {table.name: table for table in (*self.TABLES, tables.QUARANTINE)}
        name = self.options.get("table", self.TABLES[0].name)
        if name not in made:
            raise ValueError(f"{self.KIND} has no table {name!r}, only {', '.join(made)}")
        return made[name]

    def schema(self) -> StructType:
        declared = struct(self.table).fields
        others = [f for f in declared if f.name not in (FILE, *KNOWN_BY_MANIFEST)]
        return StructType([StructField(FILE, StringType()), *others])

    def reader(self, schema: StructType) -> DataSourceReader:
        paths = self.options.get("paths")  # given by load([...])
        patterns = json.loads(paths) if paths else [self.options["path"]]
        return _Reader(self.KIND, self.table, patterns, self.schema())


def _source(kind: str, *of: Table) -> type[RawFiles]:
    return type(kind, (RawFiles,), {"KIND": kind, "TABLES": of})


SOURCES = (
    _source("dool", tables.HOST_SAMPLES),
    _source("sar", tables.HOST_SAMPLES),
    _source("nodecpu", tables.NODE_CPU_SAMPLES),
    *(_source(name, tables.DEVICE_SAMPLES) for name in devices()),
    # events are known only by the trial's window
    *(_source(name, tables.DEVICE_SAMPLES) for name in WATCHING),
    _source("ycsb-summary", tables.YCSB_SUMMARY),
    _source("ycsb-status", tables.YCSB_STATUS),
    _source("ycsb-hdr", tables.YCSB_HISTOGRAMS),
    _source("ycsb-schedule", tables.YCSB_SCHEDULE),
    _source("pipeline-stages", tables.PIPELINE_STAGES),
    _source("pipeline-answers", tables.PIPELINE_ANSWERS),
    _source("dfsio-results", tables.DFSIO_RESULTS),
    _source("dfsio-io", tables.DFSIO_IO),
    _source("dfsio-history", tables.MAPREDUCE_JOBS, tables.MAP_ATTEMPTS),
)


def register(spark: SparkSession) -> None:
    """Make every source known to the session by its name."""
    for source in SOURCES:
        spark.dataSource.register(source)
