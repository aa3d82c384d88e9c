"""The section of docs/known-answers.md about the library of causes, and its record docs/proof/causes.json."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from tests.causes.disturbance import Disturbance
from tests.causes.score import AMONG, FALSE, FIRST, NAMED, Line, Score, Trial
from tests.prove.groups import ROOT
from tests.prove.running import commit, machine

PAGE = ROOT / "docs" / "known-answers.md"
RECORD = ROOT / "docs" / "proof" / "causes.json"
HEADING = "## Named causes"
_ABOUT = """
`python -m tests.causes` disturbs trials of a small cluster in known ways, beside quiet trials in random
order, and scores what the analysis names. A name is right if it is one of those that
tests/causes/disturbances.toml expects. A false friend is a name that moves with the disturbance and leads
nowhere. Every name in a quiet trial is false. A trial is explained among the quiet ones of its run, without
the first one, which warms the servers. One that
did no less work in any second, and was not slower than those, has nothing to explain: it is counted apart.
"""


def section(result: Score, known: Mapping[str, Disturbance]) -> str:
    """In Markdown, with its heading."""
    false = Counter(result.false_names)
    goals = (
        ("disturbances that were run", str(len(known)),
         str(len(result.lines) + len({*result.without_effect}))),
        ("trials that were not slow, and got no name", "-",
         f"{len(result.without_effect)}{_counts(Counter(result.without_effect))}"),
        ("named first", f"{FIRST:.0%}", f"{result.first:.0%} of {result.trials}"),
        (f"among the first {NAMED}", f"{AMONG:.0%}", f"{result.among:.0%} of {result.trials}"),
        ("false names in quiet trials", f"at most {FALSE:.0%}",
         f"{len(result.false_names)} in {result.quiet}{_counts(false)}"),
        ("trials that did not complete, or were not disturbed", "0", str(len(result.incomplete))),
    )  # fmt: skip
    today = datetime.now(UTC).date()
    return "\n".join(
        (
            HEADING,
            _ABOUT,
            f"Measured on {today} at {commit()}, {machine()}.\n",
            "| measured | goal | value |\n|---|---|---|",
            *(f"| {what} | {goal} | {value} |" for what, goal, value in goals),
            "\n| disturbance | what happens | first | among three | first names |\n|---|---|---|---|---|",
            *(_row(line, known[line.kind]) for line in result.lines),
            "",
        )
    )


def _row(line: Line, known: Disturbance) -> str:
    first, among = f"{line.first} of {line.trials}", f"{line.among} of {line.trials}"
    friends = f" ({line.friends} false friend)" if line.friends else ""
    names = ", ".join(f"{name}" for name in dict.fromkeys(line.named))
    return f"| {line.kind} | {known.about} | {first} | {among} | {names}{friends} |"


def _counts(names: Mapping[str, int]) -> str:
    told = ", ".join(f"{name} {count}" for name, count in names.items())
    return f" ({told})" if told else ""


def with_section(page: str, text: str) -> str:
    """The page with the section in the place of the old one, or at its end."""
    before, found, rest = page.partition(HEADING)
    _, following, after = rest.partition("\n## ") if found else ("", "", "")
    return before.rstrip("\n") + "\n\n" + text + (following and "\n## ") + after


def write(result: Score, trials: Sequence[Trial], known: Mapping[str, Disturbance]) -> None:
    text = section(result, known)
    PAGE.write_text(with_section(PAGE.read_text("utf-8"), text), encoding="utf-8")
    facts = {"commit": commit(), "machine": machine(), "holds": result.holds,
             "trials": [asdict(one) for one in trials]}  # fmt: skip
    RECORD.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
