"""The registered workloads: ours, and those that other packages add by an entry point.

`AnyTestCase` is a field of plans and manifests that holds a test case of any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny

from density_study.cluster.model.errors import InputError
from density_study.cluster.plugins import group_of, unusable, values_of
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.workload import WorkloadKind
from density_study.workloads.pipeline.kind import PIPELINE
from density_study.workloads.sparksql.kind import SPARKSQL
from density_study.workloads.terasort.kind import TERASORT
from density_study.workloads.testdfsio.kind import TESTDFSIO
from density_study.workloads.ycsb.kind import YCSB

OURS = (YCSB, TESTDFSIO, TERASORT, SPARKSQL, PIPELINE)


@cache
def kinds() -> Mapping[str, WorkloadKind]:
    """Every registered workload by name. InputError if an entry point cannot be loaded or repeats a name."""
    found = {kind.name: kind for kind in OURS}
    for name, kind in values_of("workload", WorkloadKind):
        taken = {key for other in found.values() for key in other.specs}
        if kind.name in found or taken & set(kind.specs):
            raise unusable(
                "workload", f"{kind.name!r} or one of its keys is registered twice", name
            )
        found[kind.name] = kind
    return MappingProxyType(found)


def kind_of(workload: str) -> WorkloadKind:
    """The workload registered under this name. InputError if there is none."""
    if workload not in kinds():
        raise InputError(
            f"no workload {workload!r} is registered.",
            f"entry points {group_of('workload')}",
            f"install the package that provides it; registered are {', '.join(kinds())}.",
        )
    return kinds()[workload]


def parse_test_case(value: Any) -> Any:
    """A test case from its JSON form; the keys `workload` and `imported` name its class. ValueError if it is
    not valid."""
    if not isinstance(value, dict):
        return value
    try:
        kind = kind_of(str(value.get("workload")))
    except InputError as error:
        raise ValueError(str(error)) from error
    if value.get("imported") and kind.imported is not None:
        return kind.imported.model_validate(value)
    return kind.test_case.model_validate(value)


AnyTestCase = Annotated[SerializeAsAny[TestCase], BeforeValidator(parse_test_case)]
