"""What a study's `leave_out` leaves: variants, and the test cases that they run. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase as fnmatch

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import AnyTopology
from density_study.workloads.base.setting import Setting


def check_globs(
    topologies: Sequence[AnyTopology], settings: Sequence[Setting], leave_out: Sequence[str]
) -> None:
    """InputError if a glob leaves out nothing of the whole study."""
    cells = [f"{topology.name}/{setting.id}" for topology in topologies for setting in settings]
    for at, glob in enumerate(leave_out):
        if not any(fnmatch(cell, glob) for cell in cells):
            raise InputError(
                f"{glob!r} leaves out nothing.",
                "leave_out",
                f"write <variant>/<test case>, for example {cells[0]}; * matches any text.",
                ("leave_out", at),
            )


def built(
    topologies: Sequence[AnyTopology], settings: Sequence[Setting], leave_out: Sequence[str]
) -> tuple[AnyTopology, ...]:
    """Those on which any of the settings runs. InputError if nothing does."""
    built = tuple(
        topology
        for topology in topologies
        if any(not is_left_out(setting, topology, leave_out) for setting in settings)
    )
    if built:
        return built
    raise InputError("nothing is left to run.", "leave_out", "leave out less.", ("leave_out",))


def is_left_out(setting: Setting, topology: AnyTopology, leave_out: Sequence[str]) -> bool:
    return any(fnmatch(f"{topology.name}/{setting.id}", glob) for glob in leave_out)
