"""What a study's `leave_out` leaves: variants, and the test cases that they run. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase as fnmatch

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import AnyTopology
from density_study.workloads.base.test_case import TestCase


def check_globs(
    topologies: Sequence[AnyTopology], test_cases: Sequence[TestCase], leave_out: Sequence[str]
) -> None:
    """InputError if a glob leaves out nothing of the whole study."""
    cells = [
        f"{topology.name}/{test_case.id}" for topology in topologies for test_case in test_cases
    ]
    for at, glob in enumerate(leave_out):
        if not any(fnmatch(cell, glob) for cell in cells):
            raise InputError(
                f"{glob!r} leaves out nothing.",
                "leave_out",
                f"write <variant>/<test case>, for example {cells[0]}; * matches any text.",
                ("leave_out", at),
            )


def built(
    topologies: Sequence[AnyTopology], test_cases: Sequence[TestCase], leave_out: Sequence[str]
) -> tuple[AnyTopology, ...]:
    """The topologies on which any of the test cases runs. InputError if none is left."""
    built = tuple(
        topology
        for topology in topologies
        if any(not is_left_out(test_case, topology, leave_out) for test_case in test_cases)
    )
    if built:
        return built
    raise InputError("nothing is left to run.", "leave_out", "leave out less.", ("leave_out",))


def is_left_out(test_case: TestCase, topology: AnyTopology, leave_out: Sequence[str]) -> bool:
    return any(fnmatch(f"{topology.name}/{test_case.id}", glob) for glob in leave_out)
