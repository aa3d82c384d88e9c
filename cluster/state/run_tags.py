"""Tags of a run, which people use to find it again: `ticket=PERF-12`. They are in the run's journal.

Not to be confused with `cluster.state.tags`, which marks a run's processes and folders.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from density_study.cluster.model.errors import InputError
from density_study.cluster.state.events import RunTagged
from density_study.cluster.state.journal import JOURNAL, Journal

MAX_VALUE = 250
_KEY = re.compile(r"[a-z][a-z0-9_.-]{0,39}", re.ASCII)


def parse_tags(pairs: Iterable[str]) -> dict[str, str]:
    """["ticket=PERF-12"] to {"ticket": "PERF-12"}. InputError names the first pair that is not key=value."""
    tags: dict[str, str] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        tags |= checked({key: value}, f"--tag {pair[:80]}")
    return tags


def checked(tags: Mapping[str, str], where: str) -> dict[str, str]:
    """The same tags. InputError for a key or a value that a tag cannot have."""
    for key, value in tags.items():
        if not _KEY.fullmatch(key):
            raise InputError(
                "a tag is KEY=VALUE, and its key begins with a lower-case letter and has at most 40 of "
                "a-z, 0-9, '_', '.' and '-'.",
                where,
                "write it like this: ticket=PERF-12.",
            )
        if not value or len(value) > MAX_VALUE or not value.isprintable():
            raise InputError(
                f"the value of a tag has 1 to {MAX_VALUE} printable characters.",
                where,
                "write it like this: ticket=PERF-12.",
            )
    return dict(tags)


def tag_run(root: Path, tags: Mapping[str, str]) -> None:
    """Add tags to the run in `root`. A key that it has already gets the new value."""
    if tags:
        Journal(root / JOURNAL).record(RunTagged(tags=dict(tags)))


def tags_of(root: Path) -> dict[str, str]:
    """The tags of the run in `root`, by key."""
    given = Journal(root / JOURNAL).events(RunTagged)
    merged = {key: value for event in given for key, value in event.tags.items()}
    return dict(sorted(merged.items()))


def has_tags(tags: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether `tags` contain all of `wanted`."""
    return wanted.items() <= tags.items()
