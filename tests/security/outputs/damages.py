"""What may be wrong with a file of a run that a page reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.hostile import files


def _instead(make: Callable[[Path], object]) -> Callable[[Path], None]:
    """Something else in the place of the file."""

    def change(path: Path) -> None:
        path.unlink()
        make(path)

    return change


def _number(value: Any) -> Callable[[Path], None]:
    """Every number of the summary."""

    def changed(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: 1 if key == "format" else changed(one) for key, one in node.items()}
        if isinstance(node, list):
            return [changed(one) for one in node]
        return value if isinstance(node, float) else node

    def change(path: Path) -> None:
        whole = json.loads(path.read_text())
        path.write_text(json.dumps({**changed(whole), "format": whole["format"]}))

    return change


HOSTILE: dict[str, Callable[[Path], None]] = {
    **{name: _instead(make) for name, make in files.HOSTILE.items()},
    "link to itself": _instead(files.link("summary.json")),
    "huge number": _instead(files.text(b'{"format": ' + b"9" * 5000 + b"}")),
    "infinite": _number(float("inf")),
    "negative": _number(-1.0),
    "zero rates": _number(0.0),
    "tiny": _number(5e-324),
}
NUMBERS = frozenset({"infinite", "negative", "zero rates", "tiny"})
