"""TeraSort's three jobs with the real tools: MapReduce's own local runner on plain files, no daemon."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from density_study.cluster.render.jvm import ADD_OPENS
from density_study.cluster.stack import classpath, ensure, find_java
from density_study.workloads.base.parsing import Parsed
from density_study.workloads.terasort.job import (
    generate_arguments,
    sort_arguments,
    validate_arguments,
)
from density_study.workloads.terasort.test_case import STACK, TeraSortTestCase
from density_study.workloads.terasort.validation import (
    CHECKSUM,
    Verified,
    order_faults,
    parse_validation,
)
from density_study.workloads.terasort.workload import RUN_JAR
from density_study.workloads.testdfsio.output.history import JobHistory
from tests.support.topologies import local

pytestmark = pytest.mark.timeout(300)

SORT = TeraSortTestCase(size_mib=4, files=2, reduces=2)


def run(folder: Path, tool: str, *arguments: str) -> str:
    """What the tool prints."""
    jvm = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *ADD_OPENS)
    path = ":".join(map(str, classpath(ensure("hadoop"))))
    (jar,) = (ensure(STACK).home / "lib").glob("*.jar")
    locally = [
        "fs.defaultFS=file:///",
        "mapreduce.framework.name=local",
        f"hadoop.tmp.dir={folder}/tmp",
    ]
    words = [word for one in locally for word in ("-D", one)]
    done = subprocess.run(
        ("setpriv", "--pdeathsig", "KILL", "--", str(find_java().command), *jvm, "-cp", path, RUN_JAR,
         str(jar), tool, *words, *arguments),
        capture_output=True, text=True, timeout=250, check=False, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout + done.stderr  # which of them has the log depends on the jars


def report(folder: Path, name: str) -> Parsed[Verified]:
    run(folder, *validate_arguments(local(), f"{folder}/{name}", f"{folder}/{name}-report"))
    return parse_validation(
        (folder / f"{name}-report" / "part-r-00000").read_bytes(), "part-r-00000"
    )


def test_sorted_rows_are_those_that_were_made_and_unsorted_ones_are_misordered(
    tmp_path: Path,
) -> None:
    said = run(tmp_path, *generate_arguments(SORT, local(), f"{tmp_path}/rows"))
    counted = re.search(r"CHECKSUM=(-?\d+)", said)
    assert counted is not None
    made = JobHistory("job_1", "TeraGen", 1, counters={CHECKSUM: int(counted[1])})
    files = sorted((tmp_path / "rows").glob("part-*"))
    # the local runner has one map, whatever it is asked for
    assert [len(files), sum(one.stat().st_size for one in files)] == [1, SORT.asked_bytes]
    run(tmp_path, *sort_arguments(SORT, local(), f"{tmp_path}/rows", f"{tmp_path}/sorted"))
    assert len(list((tmp_path / "sorted").glob("part-r-*"))) == SORT.reduces
    assert list(order_faults(report(tmp_path, "sorted"), made)) == []
    faults = list(order_faults(report(tmp_path, "rows"), made))
    assert len(faults) == 1 and "misorder" in faults[0]
