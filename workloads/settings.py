"""`Setting`: one workload with every knob fixed. The unit that a trial runs once."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

DfsioMode = Literal["write", "read", "append", "random", "backward", "skip", "truncate"]
Mix = Literal[
    "load", "read45-insert55", "scan95-insert5", "a", "b", "c", "d", "e", "f"
]  # a to f: YCSB's own core workloads


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


class YcsbSetting(BaseModel):
    """One YCSB run. `operations` is asked for, `duration_s` ends the run earlier; a load has neither."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    workload: Literal["ycsb"] = "ycsb"
    mix: Mix
    records: int = Field(gt=0)
    threads: int = Field(gt=0)
    duration_s: float | None = None
    warm_up_s: float = 0.0
    target_ops_s: float | None = None
    request_distribution: Literal["zipfian", "uniform", "latest"] = "zipfian"
    max_scan_length: int = 100
    regions_per_server: int = 10

    @property
    def id(self) -> str:
        return f"ycsb-{self.mix}-r{self.records}-t{self.threads}"


Setting = DfsioSetting | YcsbSetting
AnySetting = Annotated[Setting, Field(discriminator="workload")]
