"""What others did on an existing cluster, from two readings of its counters."""

from __future__ import annotations

from density_study.workloads.execution.others import OthersReading, others_between


def reading(
    epoch_s: float, requests: dict[str, int], vcore_s: dict[str, float], *servers: str
) -> OthersReading:
    return OthersReading(epoch_s, requests, vcore_s, frozenset(servers))


def test_counters_are_subtracted_by_name() -> None:
    before = reading(100.0, {"a": 10, "gone": 1000}, {"app": 5.0}, "s1,1", "s2,1")
    after = reading(110.0, {"a": 60, "new": 7}, {"app": 9.0, "later": 3.0}, "s1,1", "s2,2")
    found = others_between(before, after)
    assert found is not None
    assert (found.seconds, found.hbase_requests, found.yarn_vcore_s) == (10.0, 57.0, 7.0)
    assert found.regionservers_gone == ("s2,1",)


def test_a_region_that_was_opened_anew_counts_from_nothing() -> None:
    before, after = reading(0.0, {"a": 1000}, {}), reading(1.0, {"a": 20}, {})
    found = others_between(before, after)
    assert found is not None and found.hbase_requests == 20.0


def test_what_the_cluster_did_not_tell_is_unknown_not_zero() -> None:
    silent = OthersReading(1.0, faults=("no answer",))
    found = others_between(reading(0.0, {"a": 1}, {}, "s1,1"), silent)
    assert found is not None
    assert (found.hbase_requests, found.yarn_vcore_s, found.regionservers_gone) == (
        None,
        None,
        None,
    )
    assert found.faults == ("no answer",)


def test_a_cluster_of_ours_has_no_others() -> None:
    assert others_between(None, None) is None
