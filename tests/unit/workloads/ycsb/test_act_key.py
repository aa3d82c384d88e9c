"""The key `act`: a trial on each build for each act, where the store and the topology have it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.store import store_named
from density_study.cluster.stores.store import act_names
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.drafts import host, ycsb_study

ROOT = Path(__file__).parents[4]
COMPACTION = "{do: major-compaction, at: 10 s, duration: 60 s}"
SAME_COMPACTION = "{do: major-compaction, at: 10 s, duration: 70 s, mix: read45-insert55}"
LASTING = "balance, decommission and rolling-restart"
RESTART = "{do: rolling-restart, at: 5 s, duration: 60 s}"


def study(*acts: str, more: str = "", **replaced: str) -> Study:
    return ycsb_study(f"act: [{', '.join(acts)}]\n      {more}".rstrip(), **replaced)


def plan(spec: Study) -> Plan:
    return make_plan(spec, [host(12288)])


def acts(found: Plan, build: str) -> list[str]:
    """In their order."""
    trials = (step.test_case for step in found.trials if build in step.build)
    return [str(one.fault.act) for one in trials if isinstance(one, YcsbTestCase) and one.fault]


def test_acts_that_differ_in_their_rate_alone_are_two() -> None:
    slower = COMPACTION.replace("at:", "rate: 25%, at:")
    trials = (s for s in study(COMPACTION, slower).test_cases() if isinstance(s, YcsbTestCase))
    ids = [trial.id for trial in trials if trial.fault]
    assert len(set(ids)) == 2 and ids[1].endswith("-at25pct-major-compaction-at10s")


def test_every_act_is_named_by_a_store() -> None:
    assert set(act_names()) == {
        "aof-rewrite", "balance", "decommission", "major-compaction", "rolling-restart", "snapshot",
        "split",
    }  # fmt: skip


def test_an_act_adds_a_trial_at_half_the_saturation() -> None:
    (found,) = (
        s for s in study(COMPACTION).test_cases() if isinstance(s, YcsbTestCase) and s.fault
    )
    assert found.id == "ycsb-read45-insert55-r100000-t8-at50pct-major-compaction-at10s"
    assert found.size_label.endswith("at 50 % of saturation, major compaction after 10 s")
    assert YcsbTestCase.model_validate_json(found.model_dump_json()) == found
    assert not found.breaks_cluster


def test_what_changes_the_cluster_is_the_last_trial_of_its_build() -> None:
    found = plan(study(COMPACTION, RESTART))
    for build in found.builds:
        trials = [step for step in found.trials if step.build == build and step.test_case]
        last = trials[-1].test_case
        assert isinstance(last, YcsbTestCase) and last.fault is not None
        assert last.fault.act == "rolling-restart"
        assert not any(t.test_case and t.test_case.breaks_cluster for t in trials[:-1])


def test_a_topology_has_the_acts_that_it_can_do() -> None:
    balance = "{do: balance, at: 10 s, duration: 60 s}"
    found = plan(study(COMPACTION, balance))
    assert {*acts(found, "v2")} == {"major-compaction", "balance"}
    assert {*acts(found, "v1")} == {"major-compaction"}  # one RegionServer


@pytest.mark.parametrize(
    ("written", "more", "message"),
    [
        ("{do: defragment, at: 10 s}", "", "write one of aof-rewrite, balance"),
        ("{do: split, at: 55 s, duration: 60 s}", "", "less than 10 s are measured after it"),
        ("{do: split, at: 5 s, mix: load}", "", "an act needs a mix besides load"),
        (f"{COMPACTION}, {COMPACTION}", "", "two acts are equal"),
        # the mix that an act has by default, and another duration
        (f"{COMPACTION}, {SAME_COMPACTION}", "", "two acts are equal"),
        (RESTART, "fault: {kill: regionserver, at: 10 s, duration: 60 s}", "only the last trial"),
        (f"{RESTART}, {RESTART.replace('rolling-restart', 'balance')}", "", "only the last trial"),
        (f"{RESTART}, {RESTART.replace('5 s', '6 s')}", "", f"or one of {LASTING}"),
    ],
)
def test_faulty_keys_are_named(written: str, more: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        study(written, more=more)
    assert message in str(caught.value) and "workloads[1].ycsb.act" in str(caught.value)


def test_a_store_without_regionservers_has_its_own_act() -> None:
    """The live study of the append-only file was refused: it has no RegionServer."""
    spec = parse_study((ROOT / "tests/live/acts/redis.yaml").read_text(), "redis.yaml").study
    (found,) = (s for s in spec.test_cases() if isinstance(s, YcsbTestCase) and s.fault)
    topology = next(iter(make_plan(spec, [host(5120)]).topologies.values()))
    assert found.obstacle(topology) is None
    unsafe = replace(
        topology, variant=replace(topology.variant, store=store_named("redis", "memory"))
    )
    refusal = found.obstacle(unsafe)
    assert refusal is not None and "has no aof-rewrite" in refusal.what
