"""The code blocks of a page in Markdown, in their order: commands, files and printed output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent

COMMANDS = ("sh", "console")
_BLOCK = re.compile(
    r"^(?P<at> *)```(?P<language>\w+)\n(?P<fenced>.*?)^(?P=at)```$"
    r"|(?:\A|(?<=\n\n))(?P<indented>(?: {4}\S[^\n]*(?:\n|\Z)(?: {4,}[^\n]*(?:\n|\Z))*))",
    re.MULTILINE | re.DOTALL,
)
_NAMED = re.compile(r"[Ss]ave (?:this|it) as `([^`]+)`")


@dataclass(frozen=True)
class Block:
    """`language`: that of its fence; pages indent commands, so `sh` without one. `before`: the paragraph
    above it, in one line."""

    language: str
    text: str
    before: str

    @property
    def file(self) -> str | None:
        """The name under which the page says to save it."""
        named = _NAMED.search(self.before)
        return named[1] if named else None

    @property
    def commands(self) -> list[str]:
        """One a line: continued lines are joined, prompts and comments left out."""
        lines = re.sub(r"\\\n\s*", "", self.text).splitlines()
        return [re.split(r"\s+#", line.removeprefix("$ "))[0] for line in lines if line.strip()]


def blocks(page: str) -> Iterator[Block]:
    for found in _BLOCK.finditer(page):
        before = page[: found.start()].rstrip().rpartition("\n\n")[2]
        text = found["fenced"] if found["indented"] is None else found["indented"]
        yield Block(found["language"] or "sh", dedent(text), " ".join(before.split()))


def printed(shown: str, output: str) -> bool:
    """Whether `output` has the text `shown` of a page, with any numbers and line breaks."""
    words = (
        re.sub(r"\d+(?:(?:,|\\\.)\d+)*", r"[\\d.,]+", re.escape(word)) for word in shown.split()
    )
    return re.search(r"\s+".join(words), output) is not None
