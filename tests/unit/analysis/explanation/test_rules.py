"""Each rule, on made-up series: where it is the cause, and where it is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from density_study.analysis.explanation.causes import LEAST_TAKEN
from density_study.analysis.explanation.course import Course, Happening, Place, Series
from density_study.analysis.explanation.explain import explain, of_group
from density_study.analysis.explanation.lasting import Group, of_consequence, of_level, of_peers
from density_study.analysis.explanation.rules import Limit, Rule, Sign, rules
from density_study.analysis.explanation.words import named

SECONDS = 60
SPELL = slice(30, 34)
KINDS = ("spell", "peers", "trials", "level")
BASE_UP, BASE_DOWN = 3.0, 96.0
FEW = 0.4  # of the way from the usual value to the limit: not far enough


def signs(kind: str) -> Iterator[Any]:
    for rule in rules().values():
        for sign in rule.signs:
            if getattr(sign, kind) is not None:
                yield pytest.param(rule, sign, id=f"{rule.id}-{sign.series}")


def base(sign: Sign) -> float:
    limits = (sign.spell, sign.peers, sign.trials)
    least = max((one.least for one in limits if one), default=0.0)
    return max(BASE_DOWN, 3 * least) if sign.down else BASE_UP


def limit(sign: Sign, by: Limit, factor: float = 1.0) -> float:
    usual = base(sign)
    if sign.down:
        return min(usual - by.least, usual / (by.factor * factor))
    return max(usual + by.least, usual * by.factor * factor, by.floor)


def beyond(sign: Sign, edge: float) -> float:
    return edge * 0.8 if sign.down else edge * 1.2 + 1.0


def almost(sign: Sign, edge: float) -> float:
    return base(sign) + FEW * (edge - base(sign))


def noisy(value: float, seed: int = 0) -> Any:
    return value * np.random.default_rng(seed).normal(1.0, 0.01, SECONDS)


def course(
    series: Mapping[Place, Any], *, slow: bool = False, rate: float = 1000.0, **more: Any
) -> Course:
    made = rate * np.random.default_rng(5).normal(1.0, 0.02, SECONDS)
    if slow:
        made[SPELL] *= 0.2
    return Course(0, made, np.full(SECONDS, 20.0), series=Series.of(series, SECONDS), **more)


def in_spell(made: Course) -> list[str]:
    return [cause.rule.id for _, found in explain({"t": made})[0].spells for cause in found]


@pytest.mark.parametrize(("rule", "sign"), list(signs("spell")))
def test_a_series_that_moves_in_slow_seconds_names_its_cause(rule: Rule, sign: Sign) -> None:
    assert sign.spell is not None
    edge = limit(sign, sign.spell)
    if rule.takes_cores:  # in these seconds four fifths of the work are not done
        edge = max(edge, base(sign) + 100 * LEAST_TAKEN * 0.8)
    for then, expected in ((beyond(sign, edge), [rule.id]), (almost(sign, edge), [])):
        values = noisy(base(sign))
        values[SPELL] = then
        series = {Place(sign.series, "h1", "x"): values}
        assert [one for one in in_spell(course(series, slow=True)) if one == rule.id] == expected
        assert in_spell(course(series)) == []  # no second is slow: it is no cause


def peers(sign: Sign, values: list[float], loads: list[float]) -> list[str]:
    assert sign.peers is not None
    series = {}
    for n, (value, load) in enumerate(zip(values, loads, strict=True)):
        place = Place(sign.series, f"h{n}", "w/regionserver-1")
        series[place] = noisy(value, n)
        if sign.peers.load:
            series[Place(sign.peers.load, *place[1:])] = noisy(load, 100 + n)
    return [cause.rule.id for cause in of_peers(course(series))]


@pytest.mark.parametrize(("rule", "sign"), list(signs("peers")))
def test_what_is_beyond_its_equals_all_the_time_is_named(rule: Rule, sign: Sign) -> None:
    assert sign.peers is not None
    edge, usual = limit(sign, sign.peers), base(sign)
    assert rule.id in peers(sign, [usual, usual, beyond(sign, edge), usual], [100.0] * 4)
    assert rule.id not in peers(sign, [usual, usual, almost(sign, edge), usual], [100.0] * 4)
    pair = limit(sign, sign.peers, 2.0)
    assert rule.id in peers(sign, [usual, beyond(sign, pair)], [100.0] * 2)
    assert rule.id not in peers(sign, [usual, almost(sign, pair)], [100.0] * 2)
    if sign.peers.load:  # an equal without work is no equal
        assert rule.id not in peers(sign, [usual, usual, beyond(sign, edge)], [100.0, 100.0, 1.0])


@pytest.mark.parametrize(("rule", "sign"), list(signs("peers")))
def test_use_alone_is_no_fault_and_with_something_late_it_is(rule: Rule, sign: Sign) -> None:
    """Four servers; one is used more, or has more of something than its equals."""
    assert sign.peers is not None
    series = {}
    for n in range(4):
        place = Place(sign.series, f"h{n}", "w/regionserver-1")
        series[place] = noisy(base(sign) if n else beyond(sign, limit(sign, sign.peers)), n)
        if sign.peers.load:
            series[Place(sign.peers.load, *place[1:])] = noisy(100.0, 100 + n)
    alone = course(series)
    is_late = named()[sign.series][1] == "ms"
    assert [one.rule.id for one in of_peers(alone)] == [rule.id]
    assert bool(of_consequence(of_peers(alone), alone)) == is_late
    for n in range(4):  # the reads of one disk are late
        series[Place("read_await", f"h{n}", "sda")] = noisy(3.0 if n else 90.0, n)
    beside = course(series)
    assert rule.id in [one.rule.id for one in of_consequence(of_peers(beside), beside)]


def test_a_latency_that_follows_its_load_is_no_news() -> None:
    """A disk with ten times the requests and three times the latency, where all lie on one line."""
    rng = np.random.default_rng(1)
    series = {}
    for n, load in enumerate((30.0, 60.0, 120.0, 1200.0)):
        loads = load * rng.lognormal(0, 0.3, SECONDS)
        series[Place("disk_writes", "h", f"sd{n}")] = loads
        series[Place("write_await", "h", f"sd{n}")] = loads**0.6 * rng.lognormal(0, 0.05, SECONDS)
    assert of_peers(course(series)) == ()
    slow = {
        **series,
        Place("write_await", "h", "sd1"): series[Place("write_await", "h", "sd1")] * 10,
    }
    (cause,) = of_peers(course(slow))
    assert (cause.rule.id, cause.where) == ("slow-disk", "sd1 on h")
    assert "of its equals at its load" in cause.sentence


def test_a_share_does_not_grow_with_its_load() -> None:
    """A server with forty times the lookups of its equals, and as many of them answered by its cache."""
    series = {}
    for n, load in enumerate((30.0, 40.0, 1500.0)):
        loads = load * np.random.default_rng(n).lognormal(0, 0.1, SECONDS)
        place = Place("cache_lookups", "h", f"w{n}/regionserver-1")
        series[place] = loads
        hits = 100 - 60 / np.sqrt(loads) if n < 2 else np.full(SECONDS, 99.0)
        series[Place("cache_hits", *place[1:])] = hits
    assert of_peers(course(series)) == ()


def test_what_is_there_in_slow_seconds_alone_does_not_last() -> None:
    values = np.zeros(SECONDS)
    values[SPELL] = 400.0  # a mean of 27, and the limit is 20
    (made,) = explain({"t": course({Place("silent", "h", "w/datanode"): values}, slow=True)})
    assert [cause.rule.id for _, found in made.spells for cause in found] == ["daemon-silent"]
    assert made.level == ()


def test_disks_of_two_kinds_do_not_accuse_each_other() -> None:
    """Half of the disks are slower: nobody is the exception."""
    series = {
        Place("write_await", "h", f"sd{n}"): noisy(5.0 if n % 2 else 80.0, n) for n in range(6)
    }
    series |= {Place("disk_writes", *place[1:]): noisy(100.0) for place in list(series)}
    assert of_peers(course(series)) == ()


@pytest.mark.parametrize(("rule", "sign"), list(signs("level")))
def test_a_level_that_no_healthy_cluster_has_is_named(rule: Rule, sign: Sign) -> None:
    assert sign.level is not None
    for value, expected in ((1.3 * sign.level, not sign.down), (0.7 * sign.level, sign.down)):
        made = course({Place(sign.series, "h1"): noisy(value)})
        found = [cause.rule.id for cause in of_level(made, made.usual(()))]
        assert (rule.id in found) is expected


def trials(sign: Sign, last: float, rate: float) -> list[str]:
    values = [*(base(sign) * f for f in (0.99, 1.0, 1.01, 1.0, 0.99, 1.01)), last]
    alike = [
        course({Place(sign.series, "h1"): noisy(value, n)}, rate=rate if n == 6 else 1000.0)
        for n, value in enumerate(values)
    ]
    return [cause.rule.id for cause in Group.of(alike).of_trial(6)]


@pytest.mark.parametrize(("rule", "sign"), list(signs("trials")))
def test_a_slow_trial_is_compared_with_the_others_of_its_test_case(rule: Rule, sign: Sign) -> None:
    assert sign.trials is not None
    edge = limit(sign, sign.trials)
    assert trials(sign, beyond(sign, edge), 700.0) == [rule.id]
    assert trials(sign, almost(sign, edge), 700.0) == []
    assert trials(sign, beyond(sign, edge), 1000.0) == []  # it is not slower: nothing to explain


@pytest.mark.parametrize("quantity", ["steal", "other_programs"])
def test_cores_that_were_taken_explain_no_more_than_they_would_have_done(quantity: str) -> None:
    """30 % of the work is missing with a quarter of the cores, or 95 % with as many."""
    (sign,) = [one for rule in rules().values() for one in rule.signs if one.series == quantity]
    name = next(rule.id for rule in rules().values() if sign in rule.signs)
    taken = base(sign) + 22.0
    assert trials(sign, taken, 700.0) == [name]
    assert trials(sign, taken, 50.0) == []


def test_cores_that_are_not_busy_are_no_news() -> None:
    """Twice the usual use, and a fifth of the cores idle."""
    for busy, expected in ((80.0, []), (97.0, ["cpu-saturated"])):
        values = noisy(40.0)
        values[SPELL] = busy
        assert in_spell(course({Place("cpu_used", "h1"): values}, slow=True)) == expected


def test_a_daemon_that_was_stopped_stands_before_the_flush_that_waited_for_it() -> None:
    stopped, flushing = noisy(0.0), noisy(0.0)
    stopped[SPELL] = flushing[SPELL] = 100.0
    series = {
        Place("flushing", "", "w3/regionserver-1"): flushing,
        Place("stopped", "h1", "w3/datanode"): stopped,
    }
    assert in_spell(course(series, slow=True)) == ["stopped", "flush"]


def order(level: Mapping[Place, float], rate: float) -> list[str]:
    """Names, the first one first, of a trial with a silent DataNode in its slow seconds, and with what lasts
    in it alone: the last of seven."""
    silent = np.zeros(SECONDS)
    silent[SPELL] = 400.0
    series = {place: noisy(value) for place, value in level.items()}
    bad = course({**series, Place("silent", "h", "w/datanode"): silent}, slow=True, rate=rate)
    usual = [course({place: noisy(0.1, n) for place in level}) for n in range(6)]
    alike = {str(n): one for n, one in enumerate([*usual, bad])}
    return [row["cause"] for row in of_group(explain(alike)) if row["trial"] == "6"]


def test_what_lasts_comes_last_in_a_trial_that_is_as_fast_as_the_others() -> None:
    steal = {Place("steal", "h"): 16.5}
    assert order(steal, 1150.0) == ["daemon-silent", "steal"]
    assert order(steal, 700.0) == ["steal", "daemon-silent"]


def test_a_daemon_that_does_not_answer_while_all_goes_on_is_no_cause() -> None:
    silent = np.zeros(SECONDS)
    silent[::3] = 100.0
    at = Place("silent", "h", "w/datanode")
    made = course({at: silent})
    assert of_level(made, made.usual(())) == ()
    stalled = replace(made, rate=np.where(silent > 0, 100.0, made.rate))
    assert [one.rule.id for one in of_level(stalled, stalled.usual(()))] == ["daemon-silent"]


def test_time_between_client_and_servers_is_named_if_nothing_else_is() -> None:
    outside = Place("outside_time", "", "the clients")
    series = {outside: noisy(2.0)}
    series[outside][SPELL] = 120.0
    assert in_spell(course(series, slow=True)) == ["between-client-and-servers"]
    lost = Place("resent_share", "h", "w3")
    series[lost] = noisy(0.1)
    series[lost][SPELL] = 20.0
    assert in_spell(course(series, slow=True)) == ["retransmissions"]


def test_a_stall_outweighs_what_makes_all_seconds_a_little_slower() -> None:
    """Longest operations of 78 ms instead of 50, and of 3 s while a DataNode is silent."""
    silent = np.zeros(SECONDS)
    silent[SPELL] = 100.0
    worst = np.full(SECONDS, 78.0)
    worst[30:38] = 3000.0
    series = {Place("steal", "h"): noisy(16.5), Place("silent", "h", "w/datanode"): silent}
    bad = replace(course(series, slow=True), worst_ms=worst)
    usual = [course({Place("steal", "h"): noisy(0.1, n)}) for n in range(6)]
    alike = {str(n): replace(one, worst_ms=np.full(SECONDS, 50.0)) for n, one in enumerate(usual)}
    rows = [row for row in of_group(explain({**alike, "6": bad})) if row["trial"] == "6"]
    assert [row["cause"] for row in rows] == ["daemon-silent", "steal"]


def test_what_one_of_few_usual_trials_has_hides_nothing_far_stronger() -> None:
    """Of four usual trials one has a cold cache; the slow one has a busy machine and a warm cache."""
    at = (Place("other_programs", "h1"), Place("cache_hits", "h1", "w/regionserver-1"))
    usual = [
        course({at[0]: noisy(2.0, n), at[1]: noisy(88.0 if n == 2 else 99.9)}) for n in range(4)
    ]
    bad = course({at[0]: noisy(39.0), at[1]: noisy(99.9)}, rate=700.0)
    group = Group.of([*usual, bad])
    assert [cause.rule.id for cause in group.of_trial(4)] == ["other-programs"]


def test_of_equal_scores_what_is_nearer_to_the_daemon_comes_first() -> None:
    both = {Place("steal", "h"): 16.5, Place("throttled", "h", "w"): 70.0}
    assert order(both, 700.0)[:2] == ["own-limit", "steal"]


def test_a_trial_is_slow_if_all_operations_take_longer_and_none_takes_long() -> None:
    """Ten milliseconds on the way to one of three servers, at a target rate."""
    outside = Place("outside_time", "", "the clients")

    def at(mean_ms: float, between_ms: float) -> Course:
        made = course({outside: noisy(between_ms)})
        return replace(made, mean_ms=noisy(mean_ms, int(100 * mean_ms)))

    usual = [at(3.5 + n / 10, 1.8) for n in range(5)]
    (cause,) = Group.of([*usual, at(10.5, 8.8)]).of_trial(5)
    assert cause.rule.id == "between-client-and-servers"
    assert "takes 10.5 ms on average, 3." in cause.evidence
    assert Group.of([*usual, at(5.5, 8.8)]).of_trial(5) == ()


def test_few_trials_tell_nothing() -> None:
    two = [
        course({Place("iowait", "h"): noisy(v)}, rate=r) for v, r in ((1.0, 1000.0), (90.0, 300.0))
    ]
    assert Group.of(two).of_trial(1) == ()


EVENTS = {
    "gc-pause": Happening("gc pause", "w1/regionserver-1", 30.2, 33.5, "Pause Full"),
    "safepoint": Happening("safepoint", "w1/regionserver-1", 30.2, 33.5, "HeapDump"),
}


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_of_a_daemon_names_its_cause(name: str) -> None:
    event = EVENTS[name]
    assert in_spell(course({}, slow=True, events=(event,))) == [name]
    often = tuple(
        Happening(event.kind, event.source, s, s + 0.9, event.what) for s in range(SECONDS)
    )
    assert in_spell(course({}, slow=True, events=often)) == []  # it is usual


def test_every_rule_is_tested() -> None:
    tested = {param.values[0].id for kind in KINDS for param in signs(kind)}
    assert tested | EVENTS.keys() == rules().keys()


def test_every_rule_is_complete() -> None:
    for rule in rules().values():
        assert rule.kind in (1, 2, 3)
        assert "{where}" in rule.sentence
        assert all(text.endswith(".") for text in (rule.remedy, rule.friends))
        assert {*rule.unless, *rule.unless_anywhere} <= rules().keys() - {rule.id}
        for sign in rule.signs:
            assert sign.series in named(), rule.id
            limits = (sign.spell, sign.peers, sign.trials)
            assert any(limits) or sign.level is not None
            assert all(one.load in {"", *named()} for one in limits if one)
            assert all(one.least > 0 for one in limits if one)


def test_a_share_of_few_lookups_is_no_news() -> None:
    """A server that stands still looks up a block or two: whether they are in the cache tells nothing."""
    hits, lookups = noisy(96.0), noisy(400.0)
    hits[SPELL] = 30.0
    series = {Place("cache_hits", "h", "w/regionserver-1"): hits}
    series[Place("cache_lookups", "h", "w/regionserver-1")] = lookups
    assert in_spell(course(series, slow=True)) == ["cache-misses"]
    lookups[SPELL] = 20.0
    assert in_spell(course(series, slow=True)) == []


@pytest.mark.parametrize("cause", ["own-limit", "retransmissions", "packets-dropped"])
def test_a_daemon_that_is_kept_from_answering_is_not_the_cause(cause: str) -> None:
    (sign, *_) = rules()[cause].signs
    assert sign.spell is not None
    series = {Place("silent", "h", "w3/datanode"): np.zeros(SECONDS)}
    series[Place("silent", "h", "w3/datanode")][SPELL] = 100.0
    roles = {"w2": "worker", "w3": "worker"}
    assert in_spell(course(series, slow=True, roles=roles)) == ["daemon-silent"]
    then = noisy(base(sign))
    then[SPELL] = beyond(sign, limit(sign, sign.spell))
    elsewhere = ["daemon-silent", cause] if cause == "own-limit" else [cause]  # a loss has two ends
    for node, expected in (("w3", [cause]), ("w2", elsewhere), ("host", [cause])):
        made = course({**series, Place(sign.series, "h", node): then}, slow=True, roles=roles)
        assert sorted(in_spell(made)) == sorted(expected)


def test_hosts_with_other_roles_are_no_equals() -> None:
    """The client works, the master idles, and there is one worker: none of them is the exception."""
    roles = {"c": "client", "m": "master", "w": "worker"}
    series = {
        Place(quantity, host): noisy(value, n)
        for n, (host, value) in enumerate({"c": 85.0, "m": 3.0, "w": 4.0}.items())
        for quantity in ("cpu_used", "iowait", "io_stall", "cpu_stall", "other_programs")
    }
    assert [one.rule.id for one in of_peers(course(series))] != []
    assert of_peers(course(series, roles=roles)) == ()
    alike = dict.fromkeys("cmw", "worker")
    assert of_peers(course(series, roles=alike)) != ()


def test_a_better_explanation_stands_alone_and_a_mechanism_comes_before_a_symptom() -> None:
    jumps = {
        "io_stall": 90.0,
        "iowait": 60.0,
        "queue_time": 300.0,
        "resent_share": 50.0,
        "card_drops": 900.0,
    }
    series = {}
    for name, then in jumps.items():
        series[Place(name, "h1")] = noisy(1.0)
        series[Place(name, "h1")][SPELL] = then
    named_causes = in_spell(course(series, slow=True))
    assert named_causes == ["packets-dropped", "io-wait", "call-queue"]
