"""Options that have another name now. The old one is read for one more release, with a warning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Words = tuple[str, ...]
OF_LOADS: Mapping[Words, Words] = {("--map",): ("--measured-by",)}
RENAMED: Mapping[str, Mapping[Words, Words]] = {
    "init": {("--hosts",): ("--addresses",)},
    "report": {("--open", "yes"): ("--open",), ("--open", "no"): ()},
    "shell": {("--web",): ("--pages",)},
    "sudo-rules": {("--quiet",): ("--quiet-host",)},
    "stack sbom": {("--to",): ("--output",)},
    "capacity explain": {("--hosts",): ("--count",), ("--medium",): ("--disk-type",)},
    "capacity size": OF_LOADS,
    "capacity whatif": OF_LOADS,
    "capacity carry": OF_LOADS,
    "capacity years": OF_LOADS,
}
"""Words of the command after `study`: old words of its command line -> those of today."""


def present(command: str, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of a command line with today's options, and a warning for each old one.

    `--old VALUE` and `--old=VALUE` are known; what follows `--` is left as it is.
    """
    found: list[str] = []
    warnings: list[str] = []
    left = list(words)
    while left and left[0] != "--":
        option, equals, value = left[0].partition("=")
        for old, new in RENAMED.get(command, {}).items():
            if (option, *left[1 : len(old)]) == old:
                found += [f"{new[0]}={value}"] if equals else new
                instead = f"write {' '.join(new)}" if new else "omit it"
                warnings.append(
                    f"warning: study {command}: {' '.join(old)} is no longer used; {instead}."
                )
                left = left[len(old) :]
                break
        else:
            found.append(left.pop(0))
    return [*found, *left], warnings
