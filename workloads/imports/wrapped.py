"""Takes off what others put before the lines of a tool: indentation, quotation, time stamps, names of
containers, hosts and programs, colours of a terminal.

Only what stands before a line that this program knows is taken off, and the same from every line that has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from density_study.workloads.imports.piece import Refused, Text
from density_study.workloads.testdfsio.output.results import LOGGED, bare

# Beginnings of lines that begin or mark an output of one of the tools.
_MARK = re.compile(
    r"\[OVERALL\], (?:RunTime|Throughput)\(|----- TestDFSIO ----- : |nrFiles = [0-9]"
    r"|# hostname;interval;timestamp|\"(?:[Dd]stat|[Dd]ool|pcp-dstat) [0-9][^\"]* CSV [Oo]utput\""
    r"|#\[Logging for: |[0-9-]{10} [0-9:]{12} [0-9]+ sec: [0-9]+ operations; |Command line: -"
)
_LOGGED = re.compile(f"{LOGGED}$")
COLOURS = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)")
_BLANKS = re.compile(rb"(?<![ \t])[ \t]+(?=\r?\n|\r?\Z)")
_FORMS = {
    "indentation": r"[ \t]+",
    "a quotation": r"(?:> ?)+",
    "docker compose": r"[\w.-]+ +\| ",
    "a step of GitHub Actions": r"[^\t\n]{1,80}\t[^\t\n]{1,80}\t(?=[0-9]{4}-)",
    "Oozie": r"Stdoutput ",
    "kubectl": r"\[(?:pod/)?[\w./-]+\] ",
    "a time stamp": r"\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?\]? (?:std(?:out|err) [FP] )?"  # then as CRI writes it
    r"(?:[\w.-]+ [\w./-]+\[[0-9]+\]: )?",  # or the journal
    "a time": r"\[?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?\]? ",
    "syslog": r"[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} (?:[\w.-]+ [\w./-]+(?:\[[0-9]+\])?: )?",
    "a name": r"[\w.-]+: ",
}
_NAMED = frozenset({"docker compose", "kubectl", "a name"})
_MOST_CHARACTERS = 300
_HINTS = (
    *("[OVERALL]", "TestDFSIO ---", "nrFiles = ", "# hostname;", " CSV ", "#[Logging for"),
    *(" operations; ", "Command line: "),
)
MIXED = "lines of {} are mixed here: write the output of each to a file of its own"
UNKNOWN = "{!r} stands before the tool's own lines: remove it from each line"


def unwrapped(text: Text) -> Text | Refused:
    """The same lines without what others put before them; `text` itself if there is nothing."""
    data = COLOURS.sub(b"", text.data) if b"\x1b" in text.data else text.data
    plain = text if data is text.data else Text(text.file, data, altered=True)
    marked = list(_marked(plain.lines))
    heads = [line for n, _ in marked if " operations; " not in (line := plain.lines[n - 1])]
    if heads and all(line != line.rstrip() for line in heads):
        plain = Text(text.file, _BLANKS.sub(b"", plain.data), altered=True)
        marked = list(_marked(plain.lines))
    if not any(before for _, before in marked):
        return plain
    forms, names = set[str](), set[str]()
    known = [found for _, before in marked if (found := _forms_of(before)) is not None]
    if not known:
        number, before = marked[0]
        return Refused(text.file, number, UNKNOWN.format(before[:60]))
    for found in known:  # another line may only speak of such a line
        forms |= {form for form, _ in found}
        names |= {words.strip(" |:") for form, words in found if form in _NAMED}
    if not forms:
        return plain
    if len(names) > 1:
        return Refused(text.file, marked[0][0], MIXED.format(" and ".join(sorted(names)[:3])))
    off = re.compile("(?:" + "|".join(_FORMS[form] for form in _FORMS if form in forms) + ")+")
    lines = (off.sub("", line, count=1) if off.match(line) else line for line in plain.lines)
    end = "\n" if plain.data.endswith(b"\n") else ""
    whole = "\n".join(lines) + end
    return Text(text.file, whole.encode("utf-8", "backslashreplace"), altered=True)


def _marked(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Number of each line that is marked, and what stands before the mark."""
    for number, line in enumerate(lines, start=1):
        if not any(hint in line for hint in _HINTS):
            continue
        found = _MARK.search(line, 0, _MOST_CHARACTERS)
        if found is not None:
            logged = bare(line)  # log4j's own form is read as it is
            before = "" if _MARK.match(logged) else line[: found.start()]
            yield number, _LOGGED.sub("", before)


def _forms_of(before: str) -> list[tuple[str, str]] | None:
    """The forms that make up what stands before a mark, with their words; None if it is something else."""
    found: list[tuple[str, str]] = []
    while before:
        for form, pattern in _FORMS.items():
            if match := re.match(pattern, before):
                found.append((form, match.group()))
                before = before[match.end() :]
                break
        else:
            return None
    return found
