"""Runs that an agent asks about, and the protocol through which it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from density_study.analysis.comparison.compare import compare
from density_study.analysis.summary.summary import Summary
from density_study.analysis.summary.why import Bottleneck, Explanation, Shift, TrialCause
from density_study.dags.cli.agents.server import server
from tests.support.summary_factory import eight_repetitions, one_block, talk
from tests.support.summary_states import all_invalid, empty

UNEQUAL = "not comparable: the variants' disclosures differ in machine"


def unequal() -> Summary:
    """Eight repetitions whose builds ran on different machines: the effects answer nothing."""
    summary = eight_repetitions("unequal")
    spoilt = tuple(
        one.model_copy(
            update={
                "verdict": "inconclusive",
                "why": UNEQUAL,
                "p_adjusted": None,
                "hindrance": "incomparable",
            }
        )
        for one in summary.findings
    )
    return summary.model_copy(update={"findings": spoilt})


def rehearsed() -> Summary:
    return eight_repetitions("rehearsed").model_copy(update={"provider": "simulated"})


NO_INTERVAL = ("3.7142", "41.5372", "97.2581", "54321.6", "1.8431", "2.3717")
"""Of one trial, extrapolated, or of a comparison that nothing tests."""


def explained() -> Summary:
    """With causes, limits and what moved between variants, and the numbers that these rest on."""
    summary = eight_repetitions("explained")
    trial, case = summary.trials[0], summary.test_cases[0]
    cause = TrialCause(
        trial=trial.trial, rank=1, cause="slow-disk", title="a slow disk", lasting=False, common=False,
        where="sdb of w1", first=12, last=20, sentence="sdb took 3.7142 times as long: 41.5372 ms.",
        remedy="Replace it.",
    )  # fmt: skip
    limit = Bottleneck(
        topology=case.topology, test_case=case.test_case, station="CPU of h1", use_percent=97.2581,
        limit=54321.6, next_station=None, next_limit=None,
        sentence="CPU of h1, used by 97.2581 %, would be full at 54321.6 ops/s.",
    )  # fmt: skip
    shift = Shift(name="cpu", label="CPU", per_operation=True, ratio=2.3717, low=2.1, high=2.6)
    moved = Explanation(
        test_case=case.test_case, first=case.topology, later=summary.test_cases[-1].topology,
        rate=1.8431, moved=(shift,), equal=(), compared=9, sentence="It is 1.8431 times as fast.",
    )  # fmt: skip
    of_why = {"causes": (cause,), "bottlenecks": (limit,), "explanations": (moved,)}
    return summary.model_copy(update=of_why)


RUNS: Mapping[str, Callable[[], Summary]] = {
    "quickstart": one_block,
    "density-flash-hdd": eight_repetitions,
    "talk-2013": talk,
    "unequal": unequal,
    "rehearsed": rehearsed,
    "explained": explained,
    "invalid": all_invalid,
    "empty": empty,
}


def write_runs(folder: Path) -> None:
    """One run of each, and two of `nightly`, of which the later was compared with the earlier."""
    for study, make in RUNS.items():
        write_run(folder, make().model_copy(update={"study": study}))
    before, after = (
        one_block("nightly").model_copy(update={"run": f"2026112{n}T010000Z"}) for n in (1, 2)
    )
    write_run(folder, before)
    root = write_run(folder, after)
    compared = compare((before,), after, 0.05)
    (root / "report" / "comparison.json").write_text(compared.model_dump_json())


def write_run(folder: Path, summary: Summary) -> Path:
    root = folder / summary.study / summary.run
    (root / "report").mkdir(parents=True)
    (root / "journal.jsonl").touch()
    (root / "report" / "summary.json").write_text(summary.model_dump_json())
    return root


def called(runs: Path, tool: str, arguments: dict[str, Any]) -> Any:
    """The result of a tool, by the protocol."""

    async def call() -> Any:
        async with Client(server(runs)) as client:
            return await client.call_tool(tool, arguments)

    return anyio.run(call)


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of a JSON document."""
    if isinstance(value, dict):
        yield value
    inner = value.values() if isinstance(value, dict) else value
    for one in inner if isinstance(value, dict | list) else ():
        yield from objects(one)
