"""`python -m tests.known_answers [NAME...]`: measure, print a table, exit with 1 if a goal is missed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from tests.known_answers import (
    blocks,
    canary,
    change_points,
    client_doubling,
    coverage,
    drift,
    equal_variants,
    foretold,
    key_skew,
    named_causes,
    night_effects,
    nightly,
    recovery,
    rehearsed,
    report_errors,
)
from tests.known_answers.answer import Answer, KnownAnswer

_MODULES = (
    key_skew,
    equal_variants,
    drift,
    night_effects,
    change_points,
    coverage,
    blocks,
    recovery,
    client_doubling,
    canary,
    report_errors,
    rehearsed,
    nightly,
    foretold,
    named_causes,
)
KNOWN: dict[str, KnownAnswer] = {one.name: one for module in _MODULES for one in module.KNOWN}


def main(
    names: Annotated[list[str] | None, typer.Argument(help="all if left out")] = None,
    list_them: Annotated[bool, typer.Option("--list", help="Only name them.")] = False,
) -> None:
    """Measure known answers and print them as a table in Markdown. Exit code 1: a goal is missed."""
    unknown = set(names or ()) - set(KNOWN)
    if unknown:
        raise typer.BadParameter(f"there is no {', '.join(sorted(unknown))}; see --list")
    if list_them:
        for one in KNOWN.values():
            print(f"{one.name}: {one.about}{'' if one.quick else ' (minutes)'}")
        return
    missed = False
    print("| known answer | measured | goal | value | holds |\n|---|---|---|---|---|")
    for name in names or KNOWN:
        answers = KNOWN[name].measure()
        missed |= not all(answer.holds for answer in answers)
        print("\n".join(_rows(name, answers)), flush=True)
    raise typer.Exit(int(missed))


def _rows(name: str, answers: Iterable[Answer]) -> Iterable[str]:
    for one in answers:
        yield f"| {name} | {one.what} | {one.goal} | {one.value} | {'yes' if one.holds else 'no'} |"


if __name__ == "__main__":
    typer.run(main)
