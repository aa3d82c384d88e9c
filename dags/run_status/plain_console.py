"""`PlainConsole`: prints names and messages of others as plain text, and commands as they can be copied."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from density_study.cluster.model.plain import plain

_COMMAND = re.compile(r" ?`(study [^`]+)`[.,;:]? ?")


class PlainConsole(Console):
    """Prints text without control characters, and reads no markup in it. Colours and cursor movements of
    rich itself stay. Text is never folded. On a terminal, a line that is wider has its commands apart."""

    has_reader = True
    """Whether nobody has closed the pipe that it writes to."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)

    def print(self, *objects: Any, **options: Any) -> None:
        # tables and live views keep to the width
        if all(isinstance(one, str | Text) for one in objects):
            options.setdefault("soft_wrap", True)
            if self.is_terminal:
                objects = tuple(commands_apart(one, self.width) for one in objects)
        super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """A reader that has seen enough, like `head`, does not fail the command. rich ends it, and closes
        standard output even where standard error has lost its reader."""
        self.has_reader, self.quiet = False, True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(plain(text), **options)  # before its width is measured

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(plain(text), style)


def commands_apart(text: str | Text, width: int) -> Text:
    """`text`, where commands of `study` in lines of more than `width` have lines of their own."""
    lines = (text if isinstance(text, Text) else Text(text)).split("\n", allow_blank=True)
    return Text("\n").join(part for line in lines for part in _parts(line, width))


def _parts(line: Text, width: int) -> list[Text]:
    commands = list(_COMMAND.finditer(line.plain)) if line.cell_len > width else []
    indent = " " * (len(line.plain) - len(line.plain.lstrip()) + 4)
    parts, end = [], 0
    for command in commands:
        parts += [line[end : command.start()], Text(indent) + line[slice(*command.span(1))]]
        end = command.end()
    return [part for part in (*parts, line[end:]) if part.plain.strip() or not commands]
