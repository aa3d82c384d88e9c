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


FieldSize = Annotated[SizeBytes, at_most(2**20, "larger cells are objects, not fields")]


class Row(Frozen):
    """Fields of one length, or of lengths that are drawn anew for each; YCSB's default is 10 of 100 bytes."""

    fields: Annotated[
        int, Field(strict=True, ge=1), at_most(1000, "more is not a row of a table")
    ] = Field(10, description="fields of a row")
    field_length: FieldSize = Field(100, description="length of each field: 100 B")
    shortest_field: FieldSize | None = Field(
        None,
        description="lengths are uniform from here to field_length; default: each has field_length",
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        largest_mib = self.fields * self.field_length / 2**20
        if largest_mib > MAX_ROW_MIB:
            raise FaultyKeyError(
                f"a row of {largest_mib:.0f} MiB exceeds the maximum of {MAX_ROW_MIB} MiB",
                "field_length",
            )
        if self.shortest_field is not None and self.shortest_field >= self.field_length:
            raise FaultyKeyError(
                f"{self.shortest_field} B is not shorter than field_length, {self.field_length} B",
                "shortest_field",
            )
        return self

    @field_serializer("field_length", "shortest_field")
    def _with_unit(self, length: int | None) -> str | None:
        # as in a study file, because plans and manifests are read by the same rules
        return None if length is None else f"{length} B"

    @property
    def mean_length(self) -> float:
        """For a field, in bytes."""
        return (self.field_length + (self.shortest_field or self.field_length)) / 2

    @property
    def lengths(self) -> str:
        """'500', or '100 to 500'; in bytes."""
        shortest = "" if self.shortest_field is None else f"{self.shortest_field} to "
        return f"{shortest}{self.field_length}"

    def properties(self) -> dict[str, str]:
        """YCSB's."""
        given = {"fieldcount": str(self.fields), "fieldlength": str(self.field_length)}
        if self.shortest_field is not None:
            given |= {
                "fieldlengthdistribution": "uniform",
                "minfieldlength": str(self.shortest_field),
            }
        return given

    @property
    def size_mib(self) -> float:
        """A mean row, without HBase's overhead."""
        return self.fields * self.mean_length / 2**20

    @property
    def stored_mib(self) -> float:
        """A mean row as HBase stores it, in one replica."""
        return self.fields * (self.mean_length + CELL_BYTES) / 2**20

    @property
    def name(self) -> str:
        """`f20x500`, `f20x100to500`; empty for YCSB's default."""
        return "" if self == Row() else f"f{self.fields}x{self.lengths.replace(' ', '')}"
