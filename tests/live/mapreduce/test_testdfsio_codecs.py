"""Every codec for TestDFSIO, with the real tool and stack: MapReduce's own local runner on plain
files, no daemon."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import get_args

import pytest

from density_study.cluster.render.jvm import ADD_OPENS
from density_study.cluster.stack import classpath, ensure, find_java
from density_study.workloads.testdfsio.job import job_arguments
from density_study.workloads.testdfsio.modes import DfsioMode
from density_study.workloads.testdfsio.output.io_parts import parse_io_part
from density_study.workloads.testdfsio.test_case import Compression, DfsioTestCase
from density_study.workloads.testdfsio.workload import MAIN

pytestmark = pytest.mark.timeout(180)

FILES, SIZE_MIB = 2, 16
"""Large enough for every codec to need more than half a millisecond: a shorter time gives no
rate, and is quarantined."""
LOCALLY = ("-D", "fs.defaultFS=file:///", "-D", "mapreduce.framework.name=local")


def run(folder: Path, mode: DfsioMode, codec: Compression) -> int:
    """Processed bytes, as reported by the job."""
    test_case = DfsioTestCase(
        mode=mode, files=FILES, file_size_mib=SIZE_MIB, read_size_bytes=65536, compression=codec
    )
    jvm = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *ADD_OPENS)
    path = ":".join(map(str, classpath(ensure("hadoop"))))
    words = (*LOCALLY, "-D", f"hadoop.tmp.dir={folder}/tmp")
    done = subprocess.run(
        ("setpriv", "--pdeathsig", "KILL", "--", str(find_java().command), *jvm, "-cp", path, MAIN,
         *words, *job_arguments(test_case, str(folder), str(folder / "r.log"))),
        capture_output=True, text=True, timeout=120, check=False, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    part = folder / f"io_{mode}" / "part-00000"
    (row,) = parse_io_part(part.read_bytes(), part.name).rows
    return row.size_bytes


@pytest.mark.parametrize("codec", get_args(Compression))
def test_compressed_files_are_read_back_completely(tmp_path: Path, codec: Compression) -> None:
    whole = FILES * SIZE_MIB * 2**20
    assert run(tmp_path, "write", codec) == whole
    sizes = {file.stat().st_size for file in (tmp_path / "io_data").glob("test_io_*")}
    assert len(sizes) == 1, "equal contents must give equal files: how whole files are known"
    assert 0 < sizes.pop() < SIZE_MIB * 2**20 / 10
    assert run(tmp_path, "read", codec) == whole
