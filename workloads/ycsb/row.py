"""`Row`: the fields of a row of YCSB's table, and what it takes on disk."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, field_serializer, model_validator

from density_study.workloads.base.checked import FaultyKeyError, at_most
from density_study.workloads.base.quantity import SizeBytes
from density_study.workloads.base.values import Frozen

MAX_ROW_MIB = 10
# Key, family, qualifier, timestamp and lengths, as HBase stores them; measured with 10 fields of 100 bytes.
CELL_BYTES = 43


class Row(Frozen):
    """Every field has the same length; YCSB's default is 10 fields of 100 bytes."""

    fields: Annotated[int, Field(strict=True, ge=1), at_most(1000, "more is no row of a table")] = (
        Field(10, description="fields of a row")
    )
    field_length: Annotated[SizeBytes, at_most(2**20, "larger cells are objects, not fields")] = (
        Field(100, description="length of each field: 100 B")
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.size_mib > MAX_ROW_MIB:
            raise FaultyKeyError(
                f"a row of {self.size_mib:.0f} MiB exceeds the maximum of {MAX_ROW_MIB} MiB",
                "field_length",
            )
        return self

    @field_serializer("field_length")
    def _with_unit(self, length: int) -> str:
        return f"{length} B"  # as in a study file, because plans and manifests are read by the same rules

    @property
    def size_mib(self) -> float:
        """One row, without HBase's overhead."""
        return self.fields * self.field_length / 2**20

    @property
    def stored_mib(self) -> float:
        """One row as HBase stores it, in one replica."""
        return self.fields * (self.field_length + CELL_BYTES) / 2**20

    @property
    def name(self) -> str:
        """`f20x500`; empty for YCSB's default."""
        return "" if self == Row() else f"f{self.fields}x{self.field_length}"
