"""Spark types of the tables that `analysis.tables` declares."""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from analysis.tables import Table, Type

_TYPES: dict[Type, DataType] = {
    "string": StringType(),
    "int": IntegerType(),
    "long": LongType(),
    "double": DoubleType(),
    "boolean": BooleanType(),
    "strings": ArrayType(StringType()),
    "longs": ArrayType(LongType()),
    "doubles": ArrayType(DoubleType()),
}


def struct(table: Table) -> StructType:
    """`table` as a Spark schema. Every column is nullable, as in Parquet files that Spark reads."""
    return StructType([StructField(column.name, _TYPES[column.type]) for column in table.columns])
