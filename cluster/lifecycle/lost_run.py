"""`sweep_lost_run`: free this machine from a run whose folder is gone, or whose journal is.

Nothing but the lease, in a folder that only this user may write to, still knows of such a run: there is no
journal that names its data.
"""

from __future__ import annotations

from collections.abc import Container
from shlex import quote

from density_study.cluster.lifecycle.reap import GRACE_S, Failed, LeftAlone, Reaped
from density_study.cluster.machine.processes import stop_all
from density_study.cluster.model.errors import StudyError
from density_study.cluster.state import lease
from density_study.cluster.state.tags import tagged


def sweep_lost_run(dry_run: bool, dead: Container[str]) -> Reaped | LeftAlone | Failed | None:
    """End the processes of the run that holds this machine, and release its lease, if its journal is gone and
    its owner has ended or is one of `dead`. None if no such run holds the machine, or if it is alive.
    """
    held = lease.holder()
    if held is None or not held.is_lost or held.state == "alive":
        return None
    if held.state == "unknown" and held.owner.name not in dead:
        return LeftAlone(
            held.tag,
            f"{held.root} has no journal, and its owner {held.owner.name} cannot be seen from here. "
            f"If you are sure that it is dead, run: study reap --force {quote(held.owner.name)}",
        )
    processes = tagged(held.tag)
    if not dry_run:
        try:
            stop_all(processes, GRACE_S)
        except StudyError as error:  # other runs are still reaped
            return Failed(held.tag, str(error))
        lease.release(held.tag)
    return Reaped(held.tag, (*map(str, processes), "the host's lease"), dry_run)
