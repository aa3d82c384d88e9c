"""Asks a given HBase by the table tool of the YCSB stack, in a JVM of its own on this machine."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from density_study.cluster.model.access import Access
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.render.conf_files import log_flags
from density_study.cluster.render.jvm import ADD_OPENS, FAST_START, NETTY, heap_flags
from density_study.cluster.stack import classpath, ensure, find_java

MAIN = "org.densitystudy.table.TableTool"
HEAP_MIB = 128
_SPACE = re.compile(r"TYPE => SPACE, .*LIMIT => ([0-9.]+)([BKMGTP])")
_UNITS = "BKMGTP"
TIMEOUT_S = 150.0  # the tool's own limit of an operation is 120 s


def table_tool(conf: Path, access: Access, *words: str) -> Any:
    """The result of one command. `conf`: folder with the client's configuration. StudyError if it fails."""
    path = ":".join((*classpath(ensure("ycsb")), str(conf)))
    flags = (*heap_flags(HEAP_MIB), *FAST_START, *ADD_OPENS, *NETTY, *log_flags(str(conf)),
             *access.jvm_flags)  # fmt: skip
    env = {**os.environ, **access.env}
    argv = [str(find_java().command), *flags, "-cp", path, MAIN, *words]
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=env
        )
        said = done.stderr.strip().splitlines()[-1:]
    except subprocess.TimeoutExpired:
        done, said = None, [f"no answer within {TIMEOUT_S:.0f} s"]
    if done is None or done.returncode != 0:
        raise StudyError(
            f"HBase: {' '.join(said).removeprefix('table-tool: ')}.",
            f"hbase-site.xml in {conf}",
            "check that HBase runs, and that this machine reaches ZooKeeper, its HMaster and RegionServers.",
        )
    line = next(line for line in done.stdout.splitlines() if line.startswith("{"))
    return json.loads(line)["result"]


def check_space_quota(said: str, namespace: str, needed_mib: int) -> None:
    """InputError if a quota, in HBase's words, is of space and leaves the new namespace too little."""
    found = _SPACE.search(said)
    if found is None:
        return
    limit_mib = float(found[1]) * 1024 ** _UNITS.index(found[2]) / 2**20
    if limit_mib < needed_mib:
        raise InputError(
            f"its space quota is {limit_mib:,.0f} MiB, and the study writes up to {needed_mib:,} MiB.",
            f"HBase namespace {namespace}",
            "ask for a larger quota, or reduce files, file_size or records.",
        )
