"""`ImportedDfsio`: a TestDFSIO job of others, with what is known about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from density_study.cluster.model.plain import counted
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.values import ClientFiles
from density_study.workloads.testdfsio.modes import DfsioMode
from density_study.workloads.testdfsio.test_case import LABELS, DfsioTestCase, output_files


class ImportedDfsio(TestCase):
    """A TestDFSIO job. A value that is null is not known.

    is_request: files and file size are those of the request; else they are those of the result, which
    cannot show that work is missing.
    """

    workload: Literal["testdfsio"] = "testdfsio"
    imported: Literal[True] = True
    mode: DfsioMode
    files: int | None = Field(None, gt=0)
    file_size_mib: int | None = Field(None, gt=0)
    read_size_bytes: int | None = Field(None, gt=0, description="-bufferSize")
    skip_size_bytes: int | None = Field(None, gt=0)
    is_request: bool = False

    @property
    def id(self) -> str:
        parts = [f"testdfsio-{self.mode}"]
        parts += [f"n{self.files}"] if self.files else []
        parts += [f"{self.file_size_mib}m"] if self.file_size_mib else []
        parts += [f"b{self.read_size_bytes}"] if self.read_size_bytes else []
        return "-".join(parts)

    @property
    def label(self) -> str:
        return f"TestDFSIO {LABELS[self.mode]}"

    @property
    def mode_name(self) -> str:
        return self.mode

    @property
    def size_label(self) -> str:
        size = f"{self.file_size_mib} MiB" if self.file_size_mib else "unknown size"
        return f"{counted(self.files, 'file')} of {size}" if self.files else f"files of {size}"

    @property
    def sort_key(self) -> tuple[float, ...]:
        return list(LABELS).index(self.mode), self.files or 0, self.file_size_mib or 0

    @property
    def estimate_s(self) -> float:
        return 0.0

    @property
    def asked_bytes(self) -> int | None:
        """Bytes requested of all streams; None if the request is not known."""
        if not self.is_request or self.files is None or self.file_size_mib is None:
            return None
        if self.mode == "skip" and self.read_size_bytes is None:
            return None
        return DfsioTestCase(
            mode=self.mode,
            files=self.files,
            file_size_mib=self.file_size_mib,
            read_size_bytes=self.read_size_bytes or 1,
            skip_size_bytes=self.skip_size_bytes,
        ).asked_bytes

    def raw_files(self, client: ClientFiles) -> Iterator[tuple[str, str]]:
        yield from output_files(client)

    def table_row(self) -> dict[str, Any]:
        columns = self.model_dump(exclude={"imported", "is_request"})
        return {**columns, "asked_bytes": self.asked_bytes}

    def summary_fields(self) -> dict[str, Any]:
        named = {"files", "file_size_mib"}
        return {"mode": self.mode, "parameters": self.model_dump(include=named)}
