"""Acknowledged regressions: levels that people know of, in a file beside the runs of a study.

From its run on, an acknowledged number is compared with its new level only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import Field

from density_study.cluster.model.errors import InputError
from density_study.cluster.state.atomic import write_text
from density_study.cluster.state.plain_file import read_plain
from density_study.workloads.base.values import Frozen

FILE = "acknowledged.json"
MOST_BYTES = 2**24
_GIVEN = re.compile(r"-given(?=-|\Z)")


class Known(Frozen):
    """A number of a test case, by the id of its change, and the first run at the level that is known."""

    number: str
    run: str
    reason: str = ""


class Acknowledged(Frozen):
    """What the file holds."""

    format: Literal[1] = 1
    known: tuple[Known, ...] = Field((), description="in the order in which they were acknowledged")

    def since(self, number: str, until: str) -> str:
        """The newest run up to `until` at which a level of this number began that is known; "" if none."""
        return max(
            (
                k.run
                for k in self.known
                if number in (k.number, _of_existing(k.number)) and k.run <= until
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
            "the acknowledged regressions cannot be read.",
            str(path),
            "mend the file, or delete it and acknowledge again.",
        ) from error


def acknowledge(study_folder: Path, run: str, numbers: Iterable[str], reason: str) -> Acknowledged:
    """Add the numbers of this run, and write the file. One that is there already gets the new reason."""
    new = tuple(Known(number=number, run=run, reason=reason) for number in numbers)
    mine = {(one.number, one.run) for one in new}
    kept = (k for k in read_acknowledged(study_folder).known if (k.number, k.run) not in mine)
    found = Acknowledged(known=(*kept, *new))
    write_text(study_folder / FILE, found.model_dump_json(indent=2) + "\n")
    return found
