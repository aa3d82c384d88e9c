"""The key `fault`: one trial per build, its last one, where the cluster can go on without the daemon."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.spec.study import Study
from density_study.workloads.spec.study_file import parse_study
from density_study.workloads.ycsb.setting import YcsbSetting
from tests.support.drafts import QUICKSTART, host

FAULT = "fault: {kill: regionserver, at: 10 s, duration: 60 s}"


def study(fault: str = FAULT, **replaced: str) -> Study:
    text = QUICKSTART.read_text().replace("threads: [8]", f"threads: [8]\n      {fault}")
    for old, new in replaced.items():
        old = old.replace("__", ": ")
        assert old in text
        text = text.replace(old, new)
    return parse_study(text, "q.yaml").study


def plan(spec: Study) -> Plan:
    return make_plan(spec, [host(12288)])


def of_fault(spec: Study) -> YcsbSetting:
    (found,) = (s for s in spec.settings() if isinstance(s, YcsbSetting) and s.fault)
    return found


def test_a_fault_adds_a_trial_at_half_the_saturation() -> None:
    found = of_fault(study())
    assert found.id == "ycsb-read45-insert55-r100000-t8-at50pct-kill-regionserver-at10s"
    assert found.size_label.endswith("at 50 % of saturation, RegionServer killed after 10 s")
    assert (found.duration_s, found.target_percent, found.is_saturation) == (60.0, 50.0, False)
    assert len(study().settings()) == len(study("clients: 1").settings()) + 1
    assert YcsbSetting.model_validate_json(found.model_dump_json()) == found


def test_rate_and_mix_can_be_chosen() -> None:
    more = "mix: scan95-insert5, rate: 300/s}"
    found = of_fault(study(FAULT.replace("}", f", {more}")))
    assert (found.mix, found.target_ops_s, found.target_percent) == ("scan95-insert5", 300.0, None)


def test_it_is_the_last_trial_of_a_build_even_after_pairs_of_monitoring_overhead() -> None:
    spec = study(**{"monitor: {tool: dool, period: 1 s}": "monitor: {overhead_trials: 2}"})
    found = plan(spec)
    for build in found.builds:
        trials = [step for step in found.trials if step.build == build and step.setting]
        broken = [bool(step.setting and step.setting.breaks_cluster) for step in trials]
        if "v2" in build:
            assert broken[-1] and not any(broken[:-1])
        else:  # one RegionServer: nobody would take its regions over
            assert not any(broken)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (FAULT.replace("regionserver", "namenode"), "write 'regionserver'"),
        (FAULT.replace("at: 10 s", "at: 50 s"), "leave less than 10 s to recover"),
        (FAULT.replace("}", ", mix: load}"), "a fault needs a mix besides load"),
        (FAULT.replace("at: 10 s, ", ""), "at"),
    ],
)
def test_faulty_keys_are_named(fault: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        study(fault)
    assert message in str(caught.value)
    assert "workloads[1].ycsb.fault" in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "replaced", "message"),
    [
        (FAULT, {"[1, 2]": "[1]"}, "no topology has a second RegionServer"),
        (FAULT.replace("regionserver", "datanode"), {}, "two replicas of each block"),
    ],
)
def test_a_fault_that_no_topology_survives_is_refused(
    fault: str, replaced: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        plan(study(fault, **replaced))
    assert message in str(caught.value)


def test_masters_may_die_anywhere() -> None:
    spec = study(FAULT.replace("regionserver", "hmaster"))
    found = plan(spec)
    assert sum(bool(s.setting and s.setting.breaks_cluster) for s in found.trials) == len(
        found.builds
    )
