"""Provider `simulated`: clusters that are a queueing model, for rehearsals. Nothing on them is measured."""

from __future__ import annotations

from density_study.cluster.model.errors import InputError

SIMULATED = "simulated"
STAND_INS = {SIMULATED: "provider:SimulatedProvider"}


def is_rehearsal(provider: str) -> bool:
    """Whether what has this provider's name, a plan, a summary or a row, is of a rehearsal."""
    return provider == SIMULATED


def refused(where: str) -> InputError:
    """An error for whoever wants numbers of a rehearsal as if they had been measured."""
    return InputError(
        "this is a rehearsal: nothing in it was measured.",
        where,
        "name a run of `study run`; `study report` shows a rehearsal by itself.",
    )
