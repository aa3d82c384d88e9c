"""Asks a given HBase by the table tool of the YCSB stack, in a JVM of its own on this machine."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

from density_study.cluster.model.access import Access
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.java_tools import TOOL_HEAP_MIB, results_of
from density_study.cluster.providers.existing.configuration import copy_configuration
from density_study.cluster.render.conf_files import log_flags, store_client_files
from density_study.cluster.render.jvm import ADD_OPENS, FAST_START, NETTY, heap_flags
from density_study.cluster.stack import classpath, ensure, find_java
from density_study.cluster.state.runtime import runtime_dir
from density_study.cluster.state.scratch import OWN, scratch

MAIN = "org.densitystudy.table.TableTool"
TIMEOUT_S = 150.0  # the tool's own limit of an operation is 120 s


def table_tool(conf: Path, access: Access, *words: str) -> Any:
    """The result of one command. `conf`: folder with the client's configuration. StudyError if it fails."""
    path = ":".join((*classpath(ensure("ycsb")), str(conf)))
    flags = (*heap_flags(TOOL_HEAP_MIB), *FAST_START, *ADD_OPENS, *NETTY, *log_flags(str(conf)),
             *access.jvm_flags)  # fmt: skip
    env = {**os.environ, **access.env}
    argv = [str(find_java().command), *flags, "-cp", path, MAIN, *words]
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
            env=env,
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
    return results_of(done.stdout)[0]


def look(folder: Path, access: Access, *words: str) -> Any:
    """Calls `table_tool` with a copy of the client configuration in `folder`, which a study names: what else
    lies there, such as classes, is not on the class path."""
    with scratch(runtime_dir(), OWN) as conf:
        copy_configuration(folder, conf)
        for name, text in store_client_files().items():
            (conf / name).write_text(text)
        try:
            return table_tool(conf, access, *words)
        except StudyError as error:
            raise replace(error, where=f"hbase-site.xml in {folder}") from error


def check_quota(said: str, namespace: str) -> None:
    """InputError if a quota, in HBase's words, is that of the namespace. HBase deletes it with the namespace:
    a study would change what others set."""
    if f"NAMESPACE => {namespace}," in f"{said},":
        raise InputError(
            f"it has a quota, which HBase would delete with it: {said}.",
            f"HBase namespace {namespace}",
            "name another one in existing.namespace, or ask for a quota on your user instead.",
        )
