"""Acknowledged regressions: levels that people know of, in a file beside the runs of a study.

From its run on, an acknowledged number is compared with its new level only, so it is not reported again
until it changes. With an owner or a ticket it is open work, which the results hub lists.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from density_study.cluster.model.errors import InputError
from density_study.cluster.state.atomic import locked, write_text
from density_study.cluster.state.plain_file import read_plain, why_unread
from density_study.workloads.base.values import Frozen

FILE = "acknowledged.json"
MOST_BYTES = 2**24
_GIVEN = re.compile(r"-given(?=-|\Z)")


class Known(Frozen):
    """A number of a test case, by the id of its change, and the first run at the level that is known."""

    number: str
    run: str
    reason: str = ""
    owner: str = Field("", description="who looks into it")
    ticket: str = Field("", description="where it is discussed: an address, or the id of a ticket")
    effect: float | None = Field(
        None,
        description="later over earlier when it was acknowledged; null: written by an older version",
    )

    @property
    def is_open(self) -> bool:
        return bool(self.owner or self.ticket)


class Acknowledged(Frozen):
    """What the file holds."""

    format: Literal[1] = 1
    known: tuple[Known, ...] = Field((), description="in the order in which they were acknowledged")

    def since(self, number: str, until: str | None = None) -> str:
        """The newest run, up to `until`, at which a level of this number began that is known; "" if none."""
        return max(
            (
                k.run
                for k in self.known
                if number in (k.number, _of_existing(k.number))
                and (until is None or k.run <= until)
            ),
            default="",
        )


def _of_existing(number: str) -> str:
    """The number's name with today's name of the topology of an existing cluster."""
    return _GIVEN.sub("-existing", number)


NOTHING = Acknowledged()


def read_acknowledged(study_folder: Path) -> Acknowledged:
    """Empty without the file. InputError if it cannot be read."""
    path = study_folder / FILE
    try:
        return Acknowledged.model_validate_json(read_plain(path, MOST_BYTES))
    except FileNotFoundError:
        return NOTHING
    except (OSError, ValueError) as error:
        raise InputError(
            f"the acknowledged regressions cannot be read: {why_unread(error)}.",
            str(path),
            "mend the file, or delete it and acknowledge again.",
        ) from error


def acknowledge(study_folder: Path, new: Sequence[Known]) -> Acknowledged:
    """Add numbers, and write the file. One that is there already, of the same run, is replaced; it keeps its
    effect. Without owner and ticket it is no longer open. One process at a time."""
    lock = study_folder / f".{FILE}.lock"
    with locked(lock):
        known = read_acknowledged(study_folder).known
        before = {(one.number, one.run): one.effect for one in known}
        new = [
            one.model_copy(update={"effect": before.get((one.number, one.run), one.effect)})
            for one in new
        ]
        mine = {(one.number, one.run) for one in new}
        kept = (k for k in known if (k.number, k.run) not in mine)
        found = Acknowledged(known=(*kept, *new))
        write_text(study_folder / FILE, found.model_dump_json(indent=2) + "\n")
        lock.unlink()  # another user of the folder could not open it
    return found
