"""The monitors of every trial. To add one, write its module and add it to MONITORS."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from workloads.monitors.dool import Dool
from workloads.monitors.monitor import Monitor
from workloads.monitors.nodecpu import NodeCpu

__all__ = ["MONITORS", "Monitor"]

MONITORS: Mapping[str, Monitor] = MappingProxyType(
    {monitor.kind: monitor for monitor in (Dool(), NodeCpu())}
)
