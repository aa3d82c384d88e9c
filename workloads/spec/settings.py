"""`Setting`: one workload with every knob fixed. The unit that a trial runs once.

Each kind of workload adds its own here; `workload` tells them apart in JSON.
"""

from __future__ import annotations

from workloads.testdfsio.setting import DfsioMode, DfsioSetting
from workloads.ycsb.setting import Mix, YcsbSetting

__all__ = ["DfsioMode", "DfsioSetting", "Mix", "Setting", "YcsbSetting"]

Setting = DfsioSetting | YcsbSetting
