"""`TeraSortSpec`: the key `terasort` of a study file, and the test cases it expands to."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from density_study.workloads.base.checked import at_most
from density_study.workloads.base.quantity import SizeMib
from density_study.workloads.base.test_case import WorkloadSpec
from density_study.workloads.terasort.test_case import TeraSortTestCase

MAX_TASKS = 100_000
Count = Annotated[int, Field(strict=True, ge=1), at_most(MAX_TASKS, "each is a task of one job")]


class TeraSortSpec(WorkloadSpec):
    """TeraSort of generated rows: one trial per number of reduce tasks. Each is verified by TeraValidate."""

    repeatable: ClassVar[bool] = True

    size: SizeMib = Field(description="size of what is sorted, in rows of 100 bytes: 10 GiB")
    files: Count = Field(
        description="number of files of the input; a map reads one file, or one block of a larger one"
    )
    reduces: tuple[Count, ...] = Field(
        min_length=1, description="reduce tasks of the sort, one trial each: [12, 24]"
    )
    output_copies: Annotated[int, Field(strict=True, ge=1, le=512)] = Field(
        1, description="replicas of the sorted files; published results have one"
    )

    def test_cases(self) -> tuple[TeraSortTestCase, ...]:
        return tuple(
            TeraSortTestCase(
                size_mib=self.size,
                files=self.files,
                reduces=reduces,
                output_copies=self.output_copies,
            )
            for reduces in dict.fromkeys(self.reduces)
        )
