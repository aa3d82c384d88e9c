"""The log lines that explain why a process ended."""

from __future__ import annotations

import re
from collections.abc import Sequence

LAST_LINES = 30
ERRORS = 5
WIDTH = 300
"""Characters; Hadoop logs its class path, 20,000 of them, on one line."""

_ERROR = re.compile(r"\b(ERROR|FATAL)\b|^Caused by:|^Exception in thread")


def log_tail(lines: Sequence[str]) -> list[str]:
    """The last lines, preceded by the last errors above them: shutdown messages push those up."""
    last = [line[:WIDTH] for line in lines[-LAST_LINES:]]
    above = [line[:WIDTH] for line in lines[:-LAST_LINES] if _ERROR.search(line)]
    return [*above[-ERRORS:], "...", *last] if above else last
