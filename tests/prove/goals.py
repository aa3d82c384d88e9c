"""`python -m tests.prove.goals FILE bench|answers NAME...`: measures, and writes [what, holds] as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.bench.__main__ import BENCHES
from tests.known_answers.__main__ import KNOWN


def goals(kind: str, name: str) -> Iterator[tuple[str, str, bool]]:
    """What was measured, its value, and whether it meets its goal; without a goal it does."""
    if kind == "bench":
        for line in BENCHES[name](1):
            value = f"{line.value:g} {line.unit}, goal {line.goal or 'none'}"
            yield line.name, value, line.holds is not False
    else:
        for answer in KNOWN[name].measure():
            yield f"{name}: {answer.what}", f"{answer.value}, goal {answer.goal}", answer.holds


def main(output: str, kind: str, *names: str) -> None:
    held: list[tuple[str, bool]] = []
    for name in names:
        for what, value, holds in goals(kind, name):
            print(f"{what}: {value}", flush=True)
            held.append((what, holds))
    Path(output).write_text(json.dumps(held), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
