"""Data sets sized in multiples of memory: `records: [4x memory]`.

The memory is what the study gives the hosts that hold data; each variant of a duet has half of it. Only the
file decides it, so that a plan, a DAG and a resumed run agree on the number of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.base.quantity import whole_mib
from density_study.workloads.base.test_case import WorkloadSpec

_NEEDED = (
    "a size in multiples of memory needs `memory` of every worker host as a quantity, like 96 GiB"
)


def sized_by_memory(study: Any, specs: Mapping[str, type[WorkloadSpec]]) -> Any:
    """The keys of a study file with every such size as a number. What is faulty otherwise stays as it is, for
    the checks of each key. FaultyKeyError if the memory is not given as a number."""
    if not isinstance(study, dict) or not isinstance(study.get("workloads"), list):
        return study
    entries = []
    for place, entry in enumerate(study["workloads"]):
        sized = dict(entry) if isinstance(entry, dict) else {}
        for key, keys in sized.items():
            if key in specs and isinstance(keys, dict) and specs[key].has_memory_size(keys):
                memory_mib = _memory_mib(study.get("hosts"), "workloads", place, key)
                memory_mib //= 2 if study.get("duet") else 1
                sized[key] = specs[key].sized_by_memory(keys, memory_mib)
        entries.append(sized or entry)
    return {**study, "workloads": entries}


def _memory_mib(hosts: Any, *key: str | int) -> int:
    """Memory of the hosts with the role worker, together."""
    total_mib = 0
    for index, host in enumerate(hosts if isinstance(hosts, list) else ()):
        if isinstance(host, dict) and "worker" in host.get("roles", ("worker",)):
            memory = host.get("memory")
            if memory in (None, "auto"):
                raise FaultyKeyError(f"{_NEEDED}, not {memory or 'nothing'}", *key)
            try:
                total_mib += whole_mib(memory)
            except ValueError as error:
                raise FaultyKeyError(str(error), "hosts", index, "memory") from error
    if not total_mib:
        raise FaultyKeyError(f"{_NEEDED}, and there is none", *key)
    return total_mib
