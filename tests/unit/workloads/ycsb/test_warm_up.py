"""Warm-up ends when the JIT compilers of the daemons are idle, by the JVMs' own counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from cluster.clients.compilers import compiled_s
from workloads.ycsb.warm_up import LOOKS_AT_REST, CompilerIdle


def looks(readings: Sequence[Mapping[str, float] | None], every_s: float = 5.0) -> list[bool]:
    """The result of `CompilerIdle` at each reading."""
    samples = iter(readings)
    times = iter(number * every_s for number in range(len(readings)))
    idle = CompilerIdle(lambda: next(samples), lambda: next(times))
    return [idle() for _ in readings]


def compiling(*shares: float) -> list[Mapping[str, float]]:
    """Readings of one server with these shares of a core spent on compilation between them."""
    totals = [40.0]
    for share in shares:
        totals.append(totals[-1] + 5 * share)
    return [{"w1": total} for total in totals]


def test_daemons_are_steady_after_several_idle_readings() -> None:
    assert looks(compiling(0.9, 0.5, 0.01, 0.02, 0.0)) == [False] * 5 + [True]


def test_a_burst_of_compilation_restarts_the_count() -> None:
    # as one RegionServer did: reads compiled, then, a minute later, what its cache evicts by
    quiet = [0.01] * (LOOKS_AT_REST - 1)
    assert not any(looks(compiling(0.9, *quiet, 0.2, *quiet)))


def test_every_server_must_be_idle() -> None:
    assert not any(looks([{"w1": 40.0, "w2": 5.0 * n} for n in range(9)]))


def test_a_missing_answer_is_not_idle() -> None:
    still = compiling(0.0, 0.0)
    assert not any(looks([*still, None, *still]))
    assert looks([*still, None, *still, still[0]])[-1]


def test_each_regionserver_is_queried() -> None:
    urls = []

    def fetch(url: str) -> Any:
        urls.append(url)
        return {"beans": [{"name": "java.lang:type=Compilation", "TotalCompilationTime": 12345}]}

    endpoints: Any = SimpleNamespace(regionserver_http={"w1/regionserver-1": "127.0.0.1:21019"})
    assert compiled_s(endpoints, fetch) == {"w1/regionserver-1": 12.345}
    assert urls == ["http://127.0.0.1:21019/jmx?qry=java.lang:type=Compilation"]


def test_one_silent_regionserver_makes_the_result_unknown() -> None:
    def fetch(url: str) -> Any:
        raise TimeoutError(url)

    endpoints: Any = SimpleNamespace(regionserver_http={"w1/regionserver-1": "127.0.0.1:21019"})
    assert compiled_s(endpoints, fetch) is None
    assert compiled_s(endpoints, lambda _: {"beans": []}) is None
