"""docs/proof/index.md: the last run of every group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.prove.groups import ROOT, Group
from tests.prove.ledger import COMPLETE, Entry, latest

PAGE = ROOT / "docs" / "proof" / "index.md"
_HEAD = """# What was verified, and when

`make test` runs what is fast enough for every change. The rest is in groups of at most 20 minutes: slow live
tests, guests, benchmarks and known answers. `make prove` runs the groups that were verified longest ago, for
half an hour; `MINUTES=120` gives it more time, and `GROUP="stores network"` names groups. Each run adds a
line to [ledger.jsonl](ledger.jsonl), and this page shows the last one of each group. Times are in UTC.
"""
_COLUMNS = (
    "| group | what it verifies | last run | commit | result | minutes |\n|---|---|---|---|---|---|"
)


def page(groups: Mapping[str, Group], entries: Sequence[Entry]) -> str:
    """The page in Markdown."""
    last = latest(entry for entry in entries if entry.group in groups)
    outcomes = [entry.outcome for entry in last.values()]
    count = {name: outcomes.count(name) for name in ("passed", "failed", "not here")}
    lines = [
        _HEAD,
        f"{len(groups)} groups: {count['passed']} passed, {count['failed']} failed, {count['not here']} "
        f"cannot run on the machine of their last run, {len(groups) - len(last)} never ran.\n",
        _COLUMNS,
        *(_row(group, last.get(group.name)) for group in groups.values()),
        "\n## Failures, and tests that were skipped\n",
        *([line for name in groups if name in last for line in _details(last[name])] or ["None."]),
        "\n## Machines\n",
        *(sorted({f"- {entry.machine}" for entry in last.values()}) or ["None."]),
    ]
    return "\n".join(lines) + "\n"


def _row(group: Group, entry: Entry | None) -> str:
    if entry is None:
        return f"| {group.name} | {group.about} | never | | | |"
    counts = (
        f"{entry.passed} passed, {entry.failed} failed" if entry.passed is not None else "unknown"
    )
    skipped = f", {sum(entry.skipped.values())} skipped" if entry.skipped else ""
    result = f"{entry.outcome}: {counts}{skipped}"
    date = entry.date[:16].replace("T", " ")
    minutes = f"{entry.seconds / 60:.1f}"
    return f"| {group.name} | {group.about} | {date} | {entry.commit} | {result} | {minutes} |"


def _details(entry: Entry) -> list[str]:
    # In quotation marks: a goal's name may begin like a command, and commands on pages are run.
    facts = [f'failed: "{name}"' for name in entry.failures]
    facts += [f"skipped ({count}): {reason}" for reason, count in entry.skipped.items()]
    facts += [] if entry.ended == COMPLETE else [entry.ended]
    facts += [f"left behind: {', '.join(entry.left)}"] if entry.left else []
    return [f"- {entry.group}: {' '.join(fact.split())}" for fact in facts]
