"""`SparkSqlSpec`: the key `sparksql` of a study file, and the test cases it expands to."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from density_study.workloads.base.checked import at_most
from density_study.workloads.base.quantity import SizeMib
from density_study.workloads.base.test_case import WorkloadSpec
from density_study.workloads.sparksql.test_case import SparkSqlTestCase

MAX_FILES = 100_000
MAX_MIB = 2**24
"""The answers of a larger table would leave 64 bits."""


class SparkSqlSpec(WorkloadSpec):
    """Spark SQL on a table in HDFS: one trial for each size, of an aggregate, a join and a sort."""

    repeatable: ClassVar[bool] = True

    size: tuple[Annotated[SizeMib, at_most(MAX_MIB, "MiB, 16 TiB")], ...] = Field(
        min_length=1, description="sizes of the table in Parquet, one trial each: [10 GiB]"
    )
    files: Annotated[int, Field(strict=True, ge=1), at_most(MAX_FILES, "each is a task")] = Field(
        description="number of files of the table, each written by one task"
    )

    def test_cases(self) -> tuple[SparkSqlTestCase, ...]:
        return tuple(
            SparkSqlTestCase(size_mib=size, files=self.files) for size in dict.fromkeys(self.size)
        )
