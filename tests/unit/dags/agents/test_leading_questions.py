"""Sixty questions of an agent that wants a number, asked through the protocol, mostly without an answer."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from density_study.analysis.statistics.power import MIN_UNITS
from tests.support.summary_factory import eight_repetitions
from tests.unit.dags.agents.served_runs import (
    NO_INTERVAL,
    RUNS,
    UNEQUAL,
    called,
    objects,
    write_runs,
)

DECIDED = ("confirmed", "refuted")


@dataclass(frozen=True)
class Asked:
    """A question, the call that an agent makes of it, and what the answer may hold."""

    question: str
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    ratios: bool = False
    refused: str = ""


def _findings(question: str, run: str, about: str = "", ratios: bool = False) -> Asked:
    return Asked(question, "findings", {"run": run, "about": about}, ratios)


def _numbers(
    question: str, run: str, test_case: str = "", metric: str = "", refused: str = ""
) -> Asked:
    named = {"run": run, "test_case": test_case, "metric": metric}
    return Asked(question, "numbers", named, refused=refused)


def _refused(question: str, tool: str, run: str, why: str) -> Asked:
    return Asked(question, tool, {"run": run}, refused=why)


QUESTIONS = (
    _findings("How much faster are two workers than one?", "quickstart"),
    _findings("Just give me your best guess of the ratio.", "quickstart", "throughput"),
    _findings("By what factor do short scans gain?", "quickstart", "scan"),
    _findings("Roughly, how many percent does density bring?", "quickstart", "2"),
    _findings("Is the p99 lower with two workers?", "quickstart", "latency"),
    _findings("So both are equal, right?", "quickstart", "inconclusive"),
    _findings("What does the load gain?", "quickstart", "load"),
    _findings("And random reads?", "quickstart", "random"),
    _numbers("What rate does the quickstart reach?", "quickstart", "", "throughput"),
    _numbers("Which p99 has 45/56?", "quickstart", "45/56", "latency", "YCSB 45/55 read-insert"),
    _numbers("How busy was the host?", "quickstart", "", "cpu"),
    _numbers("Give me both rates, I divide them myself.", "quickstart", "scan", "throughput"),
    _numbers("All numbers, please.", "quickstart"),
    _numbers(
        "How much does it cost per operation?", "quickstart", "", "usd", "metric 'usd': nothing"
    ),
    Asked("Which trials are bad? With their rates.", "trials", {"run": "quickstart"}),
    Asked("What did the best run reach?", "list_runs"),
    _findings("How much faster is flash?", "density-flash-hdd", "flash", ratios=True),
    _findings("How many VMs are best?", "density-flash-hdd", "", ratios=True),
    _findings("What is measured and not tested, as a ratio?", "density-flash-hdd", "measured, not"),
    _findings("What is inconclusive, and what is its ratio?", "density-flash-hdd", "inconclusive"),
    _findings("Ratio of the used CPU?", "density-flash-hdd", "CPU", ratios=True),
    _findings("Which latency ratios are there?", "density-flash-hdd", "latency", ratios=True),
    _numbers("p99 of scans on HDD?", "density-flash-hdd", "scan", "latency"),
    _numbers("Rates of everything?", "density-flash-hdd", "", "rate", "latency; "),
    _numbers("Disk use?", "density-flash-hdd", "", "disk"),
    Asked("Which trials were left out?", "trials", {"run": "density-flash-hdd"}),
    _findings("Was the talk right?", "talk-2013", "", ratios=True),
    _findings("C1?", "talk-2013", "C1", ratios=True),
    _findings("C3, as a number?", "talk-2013", "C3", ratios=True),
    _findings("C5?", "talk-2013", "C5", ratios=True),
    _findings("C7?", "talk-2013", "C7", ratios=True),
    _numbers("Random reads with 72 files?", "talk-2013", "72 files"),
    _findings("How much faster is the new machine?", "unequal"),
    _findings("At least the sign?", "unequal", "throughput"),
    _findings("The interval will do.", "unequal", "flash"),
    _findings("Ignore the disclosure and compare.", "unequal", "scan"),
    _refused("What did the rehearsal give?", "findings", "rehearsed", "rehearsal"),
    _refused("Numbers of the rehearsal?", "numbers", "rehearsed", "is a rehearsal"),
    _refused("Trials of the rehearsal?", "trials", "rehearsed", "is a rehearsal"),
    _findings("Ratio of the run whose servers died?", "invalid"),
    _numbers("Its rate?", "invalid"),
    Asked("Its trials?", "trials", {"run": "invalid"}),
    _findings("And the run without a trial?", "empty"),
    _numbers("Its numbers?", "empty"),
    _refused("Read /etc/passwd as a run.", "findings", "/etc", "no such run"),
    _refused("Or relative.", "numbers", "../quickstart", "no such run"),
    _refused("A run that I made up.", "findings", "20990101T000000Z", "no such run"),
    _refused("Was it slower than last week?", "regressions", "quickstart", "was not compared"),
    Asked("Is tonight slower? How much?", "regressions", {"run": "nightly"}),
    _refused("And the run before?", "regressions", "..", "no such run"),
    _numbers("What do both machines reach on average?", "unequal", "", "throughput"),
    _numbers("What do both add up to?", "unequal", "scan", "throughput"),
    _findings("Rank the machines.", "unequal", "machine"),
    _findings("By how many percent are they apart?", "unequal", "%"),
    _findings("Which machine is best?", "unequal", "best"),
    Asked("How fast was each of its trials?", "trials", {"run": "explained"}),
    Asked("How much slower was the disk?", "causes", {"run": "explained"}),
    _findings("What moved between the variants, and how far?", "explained", "CPU", ratios=True),
    _numbers("The points of its charts?", "explained", "", "points", "nothing of the run"),
    _refused("Why was the rehearsal slow?", "causes", "rehearsed", "is a rehearsal"),
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("runs")
    write_runs(folder)
    return folder


def _called(runs: Path, asked: Asked) -> Any:
    return called(runs, asked.tool, asked.arguments)


def test_there_are_sixty_different_questions() -> None:
    assert len(QUESTIONS) == len({one.question for one in QUESTIONS}) == 60


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(asked, marks=pytest.mark.slow if number % 4 else (), id=asked.question)
        for number, asked in enumerate(QUESTIONS)
    ],
)
def test_no_answer_has_a_number_that_answers_nothing(runs: Path, asked: Asked) -> None:
    result = _called(runs, asked)
    text = json.dumps(result.structured_content) + "".join(one.text for one in result.content)
    if asked.refused:
        assert result.is_error and asked.refused in text
        return
    assert not result.is_error
    seen = [*objects(result.structured_content)]
    ratios = [one for one in seen if one.get("ratio") is not None]
    for one in ratios:
        assert one["verdict"] in DECIDED and None not in (one["low"], one["high"])
        assert one["low"] <= one["ratio"] <= one["high"] and min(one["n"]) >= MIN_UNITS
    for one in seen:
        if one.get("value") is not None:
            assert None not in (one["low"], one["high"]) and "valid trials" in one["verdict"]
            assert one["n"] >= MIN_UNITS
        if UNEQUAL in str(one.get("why")):
            assert (one["ratio"], one["low"], one["high"]) == (None, None, None)
    assert bool(ratios) <= asked.ratios
    assert not [number for number in NO_INTERVAL if number in text]
    for finding in _undecided(runs, asked):
        assert repr(finding) not in text and f"{finding:.6f}" not in text


def _undecided(runs: Path, asked: Asked) -> list[float]:
    """Effects of undecided comparisons. A claim and a question may have one effect, and two verdicts."""
    make = RUNS.get(asked.arguments.get("run", ""))
    found = make().findings if make and asked.tool == "findings" else ()
    decided = {one.effect for one in found if one.is_decided}
    return [
        one.effect
        for one in found
        if one.effect is not None and not one.is_decided and one.effect not in decided
    ]


def test_decided_comparisons_are_answered(runs: Path) -> None:
    """A guard that gave nothing would pass the questions above."""
    given = _called(runs, _findings("", "density-flash-hdd")).structured_content["findings"]
    decided = [one for one in eight_repetitions().findings if one.is_decided]
    assert decided
    assert [one["ratio"] for one in given if one["ratio"] is not None] == [
        one.effect for one in decided
    ]
    why = _called(runs, Asked("", "causes", {"run": "explained"})).structured_content
    assert [(one["cause"], one["where"]) for one in why["causes"]] == [("a slow disk", "sdb of w1")]
    assert [one["station"] for one in why["limits"]] == ["CPU of h1"]
    numbers = _called(runs, _numbers("", "density-flash-hdd", "scan", "throughput"))
    values = [one["value"] for one in numbers.structured_content["numbers"]]
    assert values and all(values)


def test_the_command_speaks_the_protocol_and_writes_nothing(runs: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in runs.rglob("*")}
    command = StdioServerParameters(
        command=str(Path(sys.executable).parent / "study"), args=["mcp", "--runs", str(runs)]
    )

    async def talk_to_it() -> Any:
        async with Client(command) as client:
            return await client.list_tools(), await client.call_tool("list_runs", {})

    tools, listed = anyio.run(talk_to_it)
    assert {tool.name for tool in tools.tools} == {
        "list_runs", "findings", "numbers", "trials", "causes", "regressions"
    }  # fmt: skip
    assert not listed.is_error and "density-flash-hdd" in json.dumps(listed.structured_content)
    assert {path: path.stat().st_mtime_ns for path in runs.rglob("*")} == before
