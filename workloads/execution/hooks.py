"""Hooks: what a site does before and after a build and a trial, such as telling its calendar or its alarms.

They are objects of the entry points `density_study.hooks`, and one program, the setting `hook`. A study file
names none: who sends a study must not choose what runs. All of them run outside the measurement window.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from density_study.cluster.model.errors import StudyError
from density_study.cluster.plugins import values_of
from density_study.cluster.state.plain_file import check_owner
from density_study.cluster.state.settings import setting
from density_study.cluster.state.shell import cleaned

LIMIT_S = 600.0
_MOST_LETTERS = 500


@dataclass(frozen=True)
class Moment:
    """`kind`: up (a build's bring-up), trial, or down (its removal). `trial` and `outcome` (ok, failed,
    skipped; only after) are empty where there is none."""

    when: Literal["before", "after"]
    kind: Literal["up", "trial", "down"]
    study: str
    run: str
    build: str
    trial: str = ""
    outcome: str = ""


@dataclass(frozen=True)
class Hook:
    """What an entry point names. `called` raises an exception if what comes next must not happen."""

    called: Callable[[Moment], None]


def tell(moment: Moment) -> None:
    """Call all hooks, one after the other. StudyError for the first that fails."""
    for name, hook in values_of("hook", Hook):
        try:
            hook.called(moment)
        except (Exception, SystemExit) as error:  # code of others may fail in any way
            why = str(error) or type(error).__name__
            raise _failed(moment, why, f"entry point {name}") from error
    if program := setting("hook"):
        _run(Path(program), moment)


def _run(program: Path, moment: Moment) -> None:
    """Its arguments are the values of the moment, in their order. What it leaves in the background may go
    on, which would keep a pipe open; past the limit all of it is killed."""
    check_owner(program)
    with tempfile.TemporaryFile() as output:
        try:
            started = subprocess.Popen(
                [str(program), *asdict(moment).values()],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                env=cleaned(os.environ), start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise _failed(moment, error.strerror or str(error), str(program)) from error
        try:
            code = started.wait(LIMIT_S)
        except BaseException as error:
            with suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
            started.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise _failed(moment, f"it took more than {LIMIT_S:.0f} s", str(program)) from error
        if code != 0:
            output.seek(max(0, output.seek(0, os.SEEK_END) - 4 * _MOST_LETTERS))
            words = output.read().decode(errors="replace").strip()[-_MOST_LETTERS:]
            raise _failed(moment, f"exit code {code}: {words}", str(program))


def _failed(moment: Moment, why: str, where: str) -> StudyError:
    what = moment.trial or f"{moment.kind} of {moment.build}"
    return StudyError(
        f"the hook {moment.when} {what} failed: {why}.", where, "mend the hook, or remove it."
    )
