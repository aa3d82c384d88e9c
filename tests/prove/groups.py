"""`Group`: tests, benches or known answers that are proved together, from groups.toml."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

ROOT = Path(__file__).parents[2]
LIMIT_S = 20 * 60.0
"""A group that takes longer is stopped."""
MARKED = "slow or vm or live"
"""The tests of a group, in pytest's notation."""


class Group(BaseModel):
    """The fields are explained in groups.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    about: str
    minutes: float = Field(gt=0, le=LIMIT_S / 60)
    tests: tuple[str, ...] = ()
    bench: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    needs: Literal["test", "live", "vm", "image"] = "test"

    def holds(self, test: str) -> bool:
        """Whether `test`, a node id of pytest, is one of this group."""
        return any(
            test == path or test.startswith((f"{path}/", f"{path}::", f"{path}["))
            for path in self.tests
        )

    def command(self, folder: Path) -> list[str]:
        """Its process, which leaves result.xml (pytest) or result.json in `folder`."""
        if self.tests:
            files = [f"--basetemp={folder / 't'}", f"--junitxml={folder / 'result.xml'}"]
            return [sys.executable, "-m", "pytest", "-q", "-m", MARKED, *files, *self.tests]
        kind = "bench" if self.bench else "answers"
        goals = [sys.executable, "-m", "tests.prove.goals", str(folder / "result.json"), kind]
        return [*goals, *self.bench, *self.answers]


def groups() -> dict[str, Group]:
    """All groups by name, in the file's order. Raises pydantic's ValidationError."""
    tables = tomllib.loads(Path(__file__).with_name("groups.toml").read_text(encoding="utf-8"))
    return {name: Group(name=name, **table) for name, table in tables.items()}
