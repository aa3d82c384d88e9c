"""Warm-up ends when the JIT compilers of the daemons are idle, by the JVMs' own counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.model.access import OPEN
from density_study.cluster.model.store import Store
from density_study.workloads.ycsb import warm_up
from density_study.workloads.ycsb.setting import YcsbSetting
from density_study.workloads.ycsb.warm_up import LOOKS_AT_REST, CompilerIdle, compiled_s


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


def test_each_regionserver_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    urls = []

    def fetch(url: str, network: str) -> Any:
        urls.append(url)
        return {"beans": [{"name": "java.lang:type=Compilation", "TotalCompilationTime": 12345}]}

    endpoints: Any = SimpleNamespace(
        regionserver_http={"w1/regionserver-1": "127.0.0.1:21019"}, access=OPEN, network=""
    )
    monkeypatch.setattr(warm_up, "fetch_json", fetch)
    assert compiled_s(endpoints) == {"w1/regionserver-1": 12.345}
    assert urls == ["http://127.0.0.1:21019/jmx?qry=java.lang:type=Compilation"]


def test_a_regionserver_without_an_answer_leaves_nothing_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fetch(url: str, network: str) -> Any:
        raise TimeoutError(url)

    endpoints: Any = SimpleNamespace(
        regionserver_http={"w1/regionserver-1": "127.0.0.1:21019"}, access=OPEN, network=""
    )
    monkeypatch.setattr(warm_up, "fetch_json", fetch)
    assert compiled_s(endpoints) is None
    monkeypatch.setattr(warm_up, "fetch_json", lambda _, network: {"beans": []})
    assert compiled_s(endpoints) is None


@pytest.mark.parametrize(("until_steady", "readings"), [(False, 2), (True, 1)])
def test_a_short_fixed_warm_up_still_has_a_share(
    until_steady: bool, readings: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends before the first periodic check. Until steady, the checks alone decide."""
    totals = iter([{"w1": 10.0}, {"w1": 1e6}])
    monkeypatch.setattr(warm_up, "compiled_s", lambda _: next(totals))
    monkeypatch.setattr(warm_up, "run_client", lambda *_: SimpleNamespace(exit_code=0))
    setting = YcsbSetting(
        mix="c", records=10, threads=1, warm_up_daemons_s=5, until_steady=until_steady
    )
    context: Any = SimpleNamespace(
        cluster=SimpleNamespace(endpoints=None, topology=SimpleNamespace(store=Store())),
        journal=SimpleNamespace(write=lambda *_, **__: None),
    )
    share = warm_up.warm_up_mix(context, setting, lambda *_: None)  # type: ignore[arg-type, return-value]
    assert (share is not None and share > 1) is not until_steady
    assert len(list(totals)) == 2 - readings
