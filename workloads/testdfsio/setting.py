"""What a study may ask of TestDFSIO (`DfsioSpec`), and one job with every knob fixed (`DfsioSetting`)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from workloads.quantity import SizeBytes, SizeMib

DfsioMode = Literal["write", "read", "append", "random", "backward", "skip", "truncate"]
Count = Annotated[int, Field(strict=True, ge=1)]

JOB_START_ESTIMATE_S = 20.0
STREAM_ESTIMATE_MIB_S = 150.0
LABELS = {"read": "sequential read", "random": "random read", "backward": "backward read"}


class DfsioSetting(BaseModel):
    """One TestDFSIO job. Sizes are of one file and of one read; MiB and bytes as the tool takes them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    workload: Literal["testdfsio"] = "testdfsio"
    mode: DfsioMode
    files: int = Field(gt=0, description="files written; also the most maps that can run at once")
    file_size_mib: int = Field(gt=0)
    read_size_bytes: int = Field(gt=0, description="test.io.file.buffer.size: bytes a read")

    @property
    def id(self) -> str:
        return f"testdfsio-{self.mode}-n{self.files}"

    @property
    def label(self) -> str:
        """For people."""
        return f"TestDFSIO {LABELS.get(self.mode, self.mode)}"

    @property
    def data_mib(self) -> float:
        """The data set, one replica."""
        return float(self.files * self.file_size_mib)

    @property
    def disk_mib(self) -> float:
        """The most the trial holds on disk, one replica."""
        return self.data_mib

    @property
    def estimate_s(self) -> float:
        """A rough guess; a run corrects it by what it sees."""
        return JOB_START_ESTIMATE_S + self.data_mib / STREAM_ESTIMATE_MIB_S

    def writes_for(self, other: object) -> bool:
        """Whether this setting writes the data that `other` reads."""
        if not isinstance(other, DfsioSetting) or self.mode != "write":
            return False
        return other.mode != "write" and self.data_mib == other.data_mib


class DfsioSpec(BaseModel):
    """TestDFSIO jobs: one trial a mode."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    modes: tuple[Literal["write", "read", "random", "backward", "skip"], ...] = Field(min_length=1)
    files: Count
    file_size: SizeMib
    read_size: SizeBytes = 1024 * 1024

    def settings(self) -> tuple[DfsioSetting, ...]:
        return tuple(
            DfsioSetting(
                mode=mode,
                files=self.files,
                file_size_mib=self.file_size,
                read_size_bytes=self.read_size,
            )
            for mode in dict.fromkeys(self.modes)
        )
