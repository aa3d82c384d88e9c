"""Servers are warm when compilers rest, each server has served enough, and the hit ratio stands still."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import pytest

from density_study.workloads.ycsb.warming.warmth import (
    LEAST_SERVED,
    LOOKS_AT_REST,
    STILL,
    Blocks,
    Look,
    Warmth,
)

EVERY_S = 5.0


def watched(looks: Sequence[Look | None]) -> tuple[Warmth, list[bool]]:
    """After all looks; the result of each."""
    left = iter(looks)
    times = iter(number * EVERY_S for number in range(len(looks)))
    warmth = Warmth(lambda: next(left), lambda: next(times))
    return warmth, [warmth() for _ in looks]


def results(looks: Sequence[Look | None]) -> list[bool]:
    return watched(looks)[1]


def compiling(*shares: float) -> list[Look | None]:
    """Looks at one server with these shares of a core spent on compilation between them."""
    totals = [40.0]
    for share in shares:
        totals.append(totals[-1] + EVERY_S * share)
    return [Look({"w1": total}) for total in totals]


def serving(ops_s: Mapping[str, float], seconds: float) -> list[Look | None]:
    """Servers at these rates whose compilers do nothing."""
    times = [number * EVERY_S for number in range(int(seconds / EVERY_S) + 1)]
    return [
        Look(dict.fromkeys(ops_s, 40.0), {name: rate * at_s for name, rate in ops_s.items()})
        for at_s in times
    ]


def test_servers_are_warm_after_several_looks_at_rest() -> None:
    assert results(compiling(0.9, 0.5, 0.01, 0.02, 0.0)) == [False] * 5 + [True]


def test_a_burst_of_compilation_restarts_the_count() -> None:
    # as one RegionServer did: reads compiled, then, a minute later, what its cache evicts by
    quiet = [0.01] * (LOOKS_AT_REST - 1)
    assert not any(results(compiling(0.9, *quiet, 0.2, *quiet)))


def test_every_server_must_be_at_rest() -> None:
    assert not any(results([Look({"w1": 40.0, "w2": EVERY_S * n}) for n in range(9)]))


def test_a_missing_answer_is_no_rest() -> None:
    still = compiling(0.0, 0.0)
    assert not any(results([*still, None, *still]))
    assert results([*still, None, *still, still[0]])[-1]


def test_compilers_that_have_nothing_to_do_are_not_warm() -> None:
    """72 servers that share the operations of a few threads get 50 each, and compile nothing for a while."""
    rates = {f"w{number}": 50.0 for number in range(72)}
    assert not any(results(serving(rates, 60.0)))
    warmth, _ = watched(serving(rates, 60.0))
    assert warmth.facts == {"compiling_share": 0.0, "served_share": 0.15}
    assert results(serving(rates, LEAST_SERVED["full"] / 50.0))[-1]


def test_c1_alone_needs_fewer_requests() -> None:
    looks = iter(serving({"w1": 50.0}, 100.0))
    warmth = Warmth(lambda: next(looks), iter(range(0, 999, 5)).__next__, jit="c1")
    assert [warmth() for _ in range(11)] == [False] * 10 + [True]


def test_the_server_with_the_fewest_requests_decides() -> None:
    assert not any(results(serving({"w1": 5000.0, "w2": 50.0}, 60.0)))


def filling(
    ratio: Callable[[float], float], seconds: float, most: float = 1e6, rate: float = 4000.0
) -> list[Look | None]:
    """Servers at rest whose caches have this hit ratio at each second, and this part of `most` blocks."""
    looks: list[Look | None] = []
    found = held = 0.0
    for second in range(int(seconds) + 1):
        if second % EVERY_S == 0:
            blocks = Blocks(int(found), int(rate * second), int(held))
            looks.append(Look({"w1": 1.0}, {"w1": 1e4 * second}, blocks))
        found += rate * ratio(second)
        held = min(rate * second, most * ratio(second))
    return looks


def exponential(fills_in_s: float) -> Callable[[float], float]:
    return lambda second: 0.9 * (1 - 2.718 ** (-second / fills_in_s))


@pytest.mark.parametrize("fills_in_s", [30.0, 600.0])
def test_a_cache_that_fills_is_not_warm_however_slowly(fills_in_s: float) -> None:
    """Within 5 s, a cache that takes 10 minutes moves by less than the limit all the time, and at first also
    within a third of the time."""
    ratio = exponential(fills_in_s)
    warm = results(filling(ratio, 20 * fills_in_s))
    first_s = warm.index(True) * EVERY_S
    assert first_s > 4 * fills_in_s
    assert ratio(first_s) > 0.9 - STILL
    assert ratio(EVERY_S + 600.0) - ratio(600.0) < STILL


def test_a_cache_that_is_too_small_is_warm_when_its_ratio_stands_still() -> None:
    warmth, warm = watched(filling(lambda _: 0.3, 60.0, most=1e4))
    assert warm.index(True) == LOOKS_AT_REST
    assert warmth.facts["hit_ratio_moved"] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("blocks", [None, Blocks(0, 0, 0)])
def test_without_lookups_there_is_no_ratio_to_wait_for(blocks: Blocks | None) -> None:
    looks = [Look({"w1": 1.0}, {"w1": 1e4 * number}, blocks) for number in range(5)]
    warmth, warm = watched(looks)
    assert warm[-1]
    assert "hit_ratio_moved" not in warmth.facts


def test_what_no_server_tells_is_no_fact() -> None:
    assert watched([None, None])[0].facts == {}
    assert watched(compiling(0.5))[0].facts == {"compiling_share": pytest.approx(0.5)}


def test_a_restarted_server_has_served_nothing() -> None:
    def at(counts: Iterable[float]) -> list[Look | None]:
        return [Look({"w1": 1.0}, {"w1": count}) for count in counts]

    assert not any(results(at([9e4, 9.5e4, 10, 20, 30, 40, 50])))
