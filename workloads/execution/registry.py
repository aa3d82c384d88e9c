"""The workloads a study may name. Adding one: its folder, and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from workloads.base.workload import Workload
from workloads.testdfsio.workload import DfsioWorkload
from workloads.ycsb.workload import YcsbWorkload

WORKLOADS: Mapping[str, Workload[Any]] = MappingProxyType(
    {
        "testdfsio": DfsioWorkload(),
        "ycsb": YcsbWorkload(),
    }
)
