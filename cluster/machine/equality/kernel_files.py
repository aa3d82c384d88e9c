"""Files of the kernel whose text is a setting: a privileged program writes them, and they are read back.
Standard library only: it runs on hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from density_study.cluster.machine.as_root import as_root, failure

Value = Callable[[str, str], object]
"""For a file and its text: what the text means, since the kernel may show it in another form than it
takes."""


def different(former: Mapping[str, str], value: Value) -> list[str]:
    """The files whose content means something else now. One that is gone holds no setting of ours."""
    there = (file for file in former if Path(file).exists())
    return [file for file in there if not _is(file, former[file], value)]


def write(program: str, files: Mapping[str, str], value: Value) -> str:
    """Why a file cannot be written, or shows something else afterwards; empty if neither. One call of the
    program writes all of them."""
    if not files:
        return ""
    done = as_root(program, "write", *(word for pair in files.items() for word in pair))
    if done.returncode:
        return failure(done, (program, "write"))
    for file, text in files.items():
        if not _is(file, text, value):
            return f"{file} shows {_shown(file)} after {text} was written"
    return ""


def restore(program: str, former: Mapping[str, str], value: Value) -> str:
    """Make the files as `former` says. Why some cannot be written, and the others are; empty if all are."""
    files = {file: former[file] for file in different(former, value)}
    if not write(program, files, value):
        return ""
    # the program ends at the first one that fails
    return "; ".join(filter(None, (write(program, {one: files[one]}, value) for one in files)))


def _is(file: str, text: str, value: Value) -> bool:
    """Whether its content means this text. What cannot be read is not known to."""
    shown = _shown(file)
    return shown is not None and value(file, shown) == value(file, text)


def _shown(file: str) -> str | None:
    try:
        return Path(file).read_text().strip()
    except OSError:
        return None
