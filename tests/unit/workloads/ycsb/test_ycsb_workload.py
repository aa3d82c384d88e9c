"""A YCSB trial starts from a defined state: settled, restored before each run, daemons warm."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.workloads.ycsb import workload
from density_study.workloads.ycsb.properties import operations_at_most
from density_study.workloads.ycsb.workload import YcsbWorkload
from tests.support.made_runs.fake_ycsb import World, case, world

__all__ = ["world"]  # the fixture

LOAD = ["balancer", "create", "warm-up-inserts-1", "balancer", "drop", "create", "WINDOW"]
FIRST = ["flush-compact-settle", "snapshot", "warm-up-mix-1", "restore", "WINDOW"]
LATER = ["restore", "WINDOW"]


def long(world: World, monkeypatch: pytest.MonkeyPatch, once: bool) -> dict[str, Any]:
    """Knobs of a table that settles for long; the limit of compactions is lifted by nobody."""

    @contextmanager
    def lifted(_: object) -> Iterator[None]:
        world.acts.append("without-limit")
        yield

    monkeypatch.setattr(workload, "is_worth_it", lambda *_: True)
    monkeypatch.setattr(workload, "unthrottled", lifted)
    monkeypatch.setattr(workload, "put_back", lambda *_: False)
    return {**STEADY, "records": 100_000, "load_once": once}


def test_rows_are_counted_only_for_a_copy(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full scan of each long load was in no budget."""
    settled = ["without-limit", "flush-compact-settle", "snapshot", "restore", "warm-up-c-1"]
    acts = world.trial("c", **long(world, monkeypatch, once=False))
    assert acts[3:] == [*settled, "restore", "WINDOW"]
    assert world.trial("c", **STEADY, records=100_000) == LATER


def test_a_table_that_is_too_small_for_a_copy_is_not_counted(world: World) -> None:
    """`load_once` asks for a copy; this table's load is faster than three JVMs."""
    acts = world.trial("c", **STEADY, records=10_000, load_once=True)
    assert "count" not in acts and acts[-2:] == LATER


def test_a_table_whose_proof_failed_is_not_measured_by_the_next_trial(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    knobs = long(world, monkeypatch, once=True)

    def refuse(*_: object) -> None:
        raise StudyError("the table differs.", "", "")

    monkeypatch.setattr(workload, "keep_or_prove", refuse)
    proof = ["without-limit", "flush-compact-settle", "count"]
    for _ in range(2):
        with pytest.raises(StudyError, match="the table differs"):
            world.trial("c", **knobs)
        assert world.acts[-3:] == proof
    monkeypatch.setattr(workload, "keep_or_prove", lambda *_: None)
    assert world.trial("c", **knobs) == [*proof, *FIRST[1:2], "restore", "warm-up-c-1", *LATER]


def test_no_trial_runs_while_compactions_have_no_limit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.trial("c")

    def refuse(_: object) -> None:
        raise StudyError("the limit could not be put back.", "", "")

    monkeypatch.setattr(workload, "put_limit_back", refuse)
    for mix in ("c", "load"):
        with pytest.raises(StudyError, match="could not be put back"):
            world.trial(mix)


def test_a_measured_load_has_warm_daemons_and_an_empty_table(world: World) -> None:
    assert world.trial("load") == LOAD


def test_every_run_starts_from_the_restored_settled_table(world: World) -> None:
    world.trial("load")
    assert world.trial("read45-insert55") == FIRST
    assert (
        world.trial("c") == LATER
    )  # even for a read-only mix: its place in the order must not matter
    assert world.trial("scan95-insert5") == LATER


def test_regions_return_to_the_servers_of_the_snapshot(world: World) -> None:
    """HBase enables a table anywhere: on more servers than replicas, reads would be remote in some trials."""
    places = ("--servers", "w1:16020,w2:16020", "--places", "1,0,1")
    world.trial("load")
    world.trial("read45-insert55", warm_up_daemons_s=0.0)
    for mix in ("c", "scan95-insert5"):
        world.trial(mix)
    first, *later = [verb for verb in world.every_verb if verb[0] == "restore"]
    assert "--places" not in first  # the snapshot is taken in the same call
    assert len(later) == 2 and all(verb[-4:] == places for verb in later)


def test_without_a_load_in_the_study_the_table_is_loaded_unmeasured(world: World) -> None:
    assert world.trial("a") == [*LOAD[:-1], "ycsb-1", *FIRST]


def test_inserts_warm_up_servers_only_where_a_load_is_measured(world: World) -> None:
    """They took as long as the warm-up of the mix, and two more JVMs."""
    acts = world.trial("a", beside_load=False)
    assert acts == ["balancer", "create", "ycsb-1", *FIRST]


def test_daemons_are_warmed_up_alike_whatever_comes_first(world: World, tmp_path: Path) -> None:
    world.trial("load")
    first = world.trial("a", threads=3, clients=3, target_ops_s=100.0, warm_up_threads=64)
    assert first == [*FIRST[:2], "warm-up-mix-1", "warm-up-mix-2", "warm-up-mix-3", *LATER]
    threads = [c[c.index("-threads") + 1] for c in world.commands if "scanproportion=0.1" in c]
    assert threads == ["21", "21", "22"] and not any("-target" in c for c in world.commands[1:4])
    warmed = [e["name"] for e in world.journal.read() if "warmed" in e["event"]]
    assert warmed == ["warm-up-inserts", "warm-up-mix"]


def test_a_second_load_drops_the_first_without_another_warm_up(world: World) -> None:
    world.trial("load")
    assert world.trial("load", threads=8) == ["balancer", "drop", "create", "WINDOW"]
    world.trial("a")
    world.trial("load", threads=16)
    assert world.trial("a") == LATER  # a snapshot outlives its table


def test_another_table_is_warmed_up_too(world: World) -> None:
    world.trial("load")
    world.trial("a")
    assert world.trial("load", records=5000) == ["balancer", "create", "WINDOW"]
    assert world.trial("a", records=5000) == FIRST


def test_a_rebuilt_cluster_has_none_of_the_old_tables(world: World, tmp_path: Path) -> None:
    world.trial("load")
    world.trial("a")
    world.build(tmp_path, pid=2)  # in the same place, after a crash
    assert world.trial("a") == [*LOAD[:-1], "ycsb-1", *FIRST]


def test_warm_up_of_daemons_can_be_omitted(world: World) -> None:
    assert world.trial("load", warm_up_daemons_s=0.0) == ["balancer", "create", "WINDOW"]
    assert world.trial("a", warm_up_daemons_s=0.0) == [*FIRST[:2], "restore", "WINDOW"]


STEADY: dict[str, Any] = {"warm_up_daemons_s": 0.0, "until_steady": True}


def test_until_steady_each_mix_is_warmed_up_before_its_first_trial(world: World) -> None:
    assert world.trial("load", **STEADY) == LOAD
    first = ["flush-compact-settle", "snapshot", "restore", "warm-up-a-1", "restore", "WINDOW"]
    assert world.trial("a", **STEADY) == first
    assert world.trial("a", **STEADY, target_ops_s=100.0) == LATER
    assert world.trial("scan95-insert5", **STEADY) == [
        "restore",
        "warm-up-scan95-insert5-1",
        *LATER,
    ]
    assert world.trial("a", **STEADY) == LATER
    warmed = [(e["name"], e["steady"]) for e in world.journal.read() if "warmed" in e["event"]]
    assert warmed == [
        ("warm-up-inserts", True),
        ("warm-up-a", True),
        ("warm-up-scan95-insert5", True),
    ]


def test_until_steady_an_unmeasured_load_needs_no_warm_daemons(world: World) -> None:
    acts = world.trial("c", **STEADY)
    assert acts[:5] == ["balancer", "create", "ycsb-1", "flush-compact-settle", "snapshot"]
    assert acts[5:] == ["restore", "warm-up-c-1", "restore", "WINDOW"]


def test_daemons_that_never_become_steady_are_measured_and_reported(world: World) -> None:
    world.looks = 1
    world.trial("c", **STEADY)
    (event,) = [e for e in world.journal.read() if "warmed" in e["event"]]
    assert not event["steady"]


def test_every_trial_of_a_mix_reports_the_warm_up_of_its_daemons(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workload, "warm_up_mix", lambda *_: {"compiling_share": 0.9})
    world.trial("c", **STEADY)
    later = YcsbWorkload().prepare(world.bench, case("c", **STEADY, target_ops_s=100.0))
    assert later.state is not None and later.state["compiling_share"] == 0.9
    load = YcsbWorkload().prepare(world.bench, case("load", **STEADY))
    assert load.state is not None and "compiling_share" not in load.state


def test_a_load_reports_the_warm_up_by_inserts(world: World) -> None:
    load = YcsbWorkload().prepare(world.bench, case("load", **STEADY))
    assert load.state is not None and load.state["compiling_share"] == 0.0


def test_a_warm_up_until_steady_adds_no_rows(world: World) -> None:
    world.trial("scan95-insert5", **STEADY)
    (arguments,) = [c for c in world.commands if "insertproportion=0.0" in c]
    assert {"updateproportion=0.05", "scanproportion=0.95"} <= set(arguments)


def test_the_table_is_split_for_all_its_servers(world: World) -> None:
    world.trial("load", regions_per_server=7)
    YcsbWorkload().prepare(world.bench, case("load", regions_per_server=7))
    (create,) = [verb for verb in world.verbs if verb[0] == "create"]
    assert create[create.index("--regions") + 1] == "14"


def test_a_warm_up_with_inserts_is_limited_by_time_or_rows() -> None:
    assert operations_at_most(case("load", duration_s=9.0)) > 1000
