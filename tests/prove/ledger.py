"""docs/proof/ledger.jsonl: one line per group that was run, oldest first. Only `make prove` writes there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from tests.prove.groups import ROOT, Group

LEDGER = ROOT / "docs" / "proof" / "ledger.jsonl"
COMPLETE = "complete"


class Entry(BaseModel):
    """One run of a group.

    `commit` is the last one that changed more than docs/proof, with `+` if files differ from it. `date` is in
    UTC, `load` the load average before. `passed` and `failed` count tests or goals; None: unknown, as it
    ended early. `skipped`: reason -> tests. `ended`: "complete", or why not. `left`: processes and mounts
    that it left behind.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    group: str
    commit: str
    date: str
    machine: str
    load: float
    seconds: float
    passed: int | None
    failed: int | None
    failures: tuple[str, ...] = ()
    skipped: Mapping[str, int] = {}
    ended: str = COMPLETE
    left: tuple[str, ...] = ()

    @property
    def outcome(self) -> Literal["passed", "failed", "not here"]:
        """ "not here": nothing of it can run on this machine."""
        if self.ended != COMPLETE or self.failed or self.left:
            return "failed"
        return "passed" if self.passed else "not here" if self.skipped else "failed"


def read(path: Path = LEDGER) -> list[Entry]:
    """Raises pydantic's ValidationError for a line that no run wrote."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Entry.model_validate_json(line) for line in lines]


def append(entry: Entry, path: Path = LEDGER) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(entry.model_dump_json(exclude_defaults=True) + "\n")


def latest(entries: Iterable[Entry]) -> dict[str, Entry]:
    return {entry.group: entry for entry in entries}


def stalest(groups: Iterable[Group], last: Mapping[str, Entry], commit: str) -> list[Group]:
    """What failed before the last change, then what never ran, then the rest by age.

    What failed at this very commit waits for its turn: else it would take all the time.
    """

    def urgency(group: Group) -> tuple[int, str]:
        entry = last.get(group.name)
        if entry is None:
            return 1, ""
        return (0 if entry.outcome == "failed" and entry.commit != commit else 2), entry.date

    return sorted(groups, key=urgency)


def expected_s(group: Group, last: Mapping[str, Entry]) -> float:
    """Its last measured time, else the estimate of groups.toml."""
    entry = last.get(group.name)
    return entry.seconds if entry and entry.outcome == "passed" else group.minutes * 60
