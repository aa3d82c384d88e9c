"""`python -m tests.prove run|stalest|page`; `make prove` runs the first."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator, Mapping
from typing import Annotated

import typer

from tests.prove import ledger, running
from tests.prove.groups import Group, groups
from tests.prove.page import PAGE, page

app = typer.Typer(add_completion=False)


@app.command()
def run(
    minutes: Annotated[float, typer.Option(help="Start no group that ends later.")] = 30,
    group: Annotated[
        list[str] | None, typer.Option(help="Run these, however long they take.")
    ] = None,
) -> None:
    """Run groups, stalest first, and add what was seen to the ledger. Exit code 1: one did not pass."""
    known = groups()
    if unknown := set(group or ()) - set(known):
        raise typer.BadParameter(
            f"there is no {', '.join(sorted(unknown))}; groups: {', '.join(known)}"
        )
    running.adopt_orphans()
    failed = False
    with ledger.LEDGER.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another `make prove` in this checkout ends first
        ends = time.monotonic() + minutes * 60
        for one in [known[name] for name in group] if group else _fitting(known, ends):
            print(f"{one.name}: {one.about}", flush=True)
            entry = running.run(one)
            ledger.append(entry)
            write_page()
            failed |= entry.outcome == "failed"
            print(f"{one.name}: {entry.outcome} after {entry.seconds:.0f} s", flush=True)
    raise typer.Exit(int(failed))


def _fitting(known: Mapping[str, Group], ends: float) -> Iterator[Group]:
    """Groups, stalest first, while one is expected to end before `ends` (of time.monotonic)."""
    waiting = ledger.stalest(known.values(), ledger.latest(ledger.read()), running.commit())
    while True:
        last, left_s = ledger.latest(ledger.read()), ends - time.monotonic()
        one = next((one for one in waiting if ledger.expected_s(one, last) <= left_s), None)
        if one is None:
            return
        waiting.remove(one)
        yield one


@app.command("stalest")
def show_stalest(count: int = 5) -> None:
    """Name the groups that `make prove` would run first."""
    last = ledger.latest(ledger.read())
    print("verified longest ago, for `make prove`:")
    for group in ledger.stalest(groups().values(), last, running.commit())[:count]:
        entry = last.get(group.name)
        print(
            f"  {group.name:20} {f'{entry.outcome}, {entry.date[:10]}' if entry else 'never run'}"
        )


@app.command("page")
def write_page() -> None:
    """Write docs/proof/index.md."""
    PAGE.write_text(page(groups(), ledger.read()), encoding="utf-8")


if __name__ == "__main__":
    app()
