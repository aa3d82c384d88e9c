"""summary.json without its date, wall times and folder: one line per test case, trial and finding."""

from __future__ import annotations

import json
import re
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"
TIMES = ("created", "time")
_WALL_TIME = re.compile(r", about \d+ (?:min|h)(?=\))")


def reported_lines(summary: Path) -> str:
    """The summary as JSON that is compared and reviewed by line."""
    value = json.loads(summary.read_text(encoding="utf-8"))
    entries = [_entry(name, of_name) for name, of_name in value.items() if name not in TIMES]
    text = "{\n" + ",\n".join(entries) + "\n}\n"
    return text.replace(str(summary.parents[1]), "RUN")


def _entry(name: str, value: object) -> str:
    if not isinstance(value, list):
        return f"{json.dumps(name)}: {_short(value)}"
    return f"{json.dumps(name)}: [\n" + ",\n".join(map(_short, value)) + "\n]"


def _short(value: object) -> str:
    return _WALL_TIME.sub("", json.dumps(value, ensure_ascii=False, separators=(",", ":")))
