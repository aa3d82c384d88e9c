"""The Java tools of this project, TableTool and StoreTool: their heap, and what they print."""

from __future__ import annotations

import json
from typing import Any

TOOL_HEAP_MIB = 128


def results_of(stdout: str) -> list[Any]:
    """The result of each command, in order. A tool prints a JSON object per command; other lines are logs."""
    return [json.loads(line)["result"] for line in stdout.splitlines() if line.startswith("{")]
