"""`quiet: yes`: settings of the table that make noise are set for the time of a trial, and put back.

Standard library only: it runs on hosts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from density_study.cluster.machine.as_root import may_not
from density_study.cluster.machine.equality import kernel_files
from density_study.cluster.machine.equality.reading import choice, chosen, files_of
from density_study.cluster.machine.equality.table import FACTS
from density_study.cluster.machine.privileged.quiet_host import TEXT, may_write
from density_study.cluster.model.errors import InputError, StudyError

PROGRAM = "quiet-host"


def noisy() -> dict[str, str]:
    """The files to be changed, and their texts. Files that the kernel lacks are left out."""
    return {str(file): text for file, text, quiet in _settings() if text != quiet}


def make_quiet(former: Mapping[str, str]) -> None:
    """Change these files, which `noisy` returned. StudyError if one cannot be written."""
    quiet = {str(file): text for file, _, text in _settings()}
    _write({file: quiet[file] for file in former if file in quiet})


def changed(former: Mapping[str, str]) -> list[str]:
    """The files whose setting differs from that in `former`."""
    if fault := foreign(former):
        raise _failed(fault)
    return kernel_files.different(former, _value)


def restore(former: Mapping[str, str]) -> None:
    """Make them as `noisy` returned them; safe to repeat."""
    if fault := foreign(former) or kernel_files.restore(PROGRAM, former, _value):
        raise _failed(fault)


def check() -> None:
    """InputError if this user may not change them. Changes nothing."""
    for file, text in list(noisy().items())[:1]:  # the right is that of the program
        if why := may_not(PROGRAM, "write", file, text):
            raise InputError(
                f"the host cannot be made quiet: {why}.",
                "quiet",
                "run the script of `study sudo-rules --quiet-host` there as root, or write quiet: no.",
                ("quiet",),
            )


def foreign(former: Mapping[str, object]) -> str:
    """What in `former` cannot come from `noisy`, in words; empty if there is nothing."""
    for file, text in former.items():
        if not isinstance(text, str) or not re.fullmatch(TEXT, text):
            return f"{str(text)[:40]!r} is not a setting of {file[:200]}"
        if not may_write(("write", file, text)) or Path(file).is_symlink():
            return f"{file[:200]!r} is not a setting that a quiet trial changes"
    return ""


def _settings() -> Iterator[tuple[Path, str, str]]:
    """(file, text, quiet text) of each that can be read."""
    for fact in FACTS:
        for file in files_of(fact.read) if fact.quiet else ():
            try:
                yield file, chosen(file), fact.quiet
            except OSError:
                continue


def _write(files: Mapping[str, str]) -> None:
    if fault := kernel_files.write(PROGRAM, files, _value):
        raise _failed(fault)


def _value(_: str, text: str) -> str:
    return choice(text)


def _failed(why: str) -> StudyError:
    return StudyError(f"{why}.", "quiet", "write quiet: no, or look at the setting on the host.")
