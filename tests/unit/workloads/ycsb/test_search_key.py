"""The key `search`: what it accepts, the test cases and trials it becomes, and how a probe runs."""

from __future__ import annotations

from random import Random

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.base.search import Probe, Search
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.planning.trial_order import random_order
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.properties import client_arguments
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.drafts import QUICKSTART, host

MIXES = "mixes: [load, read45-insert55, scan95-insert5]"
LIMITS = "{max_rate: {read_p99: 20 ms, insert_p99.9: 0.1 s}, until_cpu: 70%, start: 500/s}"
READS = "{max_rate: {read_p99: 20 ms}, probes: 5}"


def parsed(
    search: str, mixes: str = "mixes: [load, read45-insert55]", threads: str = "[4, 8]"
) -> Study:
    text = QUICKSTART.read_text().replace(MIXES, mixes)
    text = text.replace("threads: [8]", f"threads: {threads}\n      search: {search}")
    return parse_study(text, "q.yaml").study


def sought(search: str, **more: str) -> list[YcsbTestCase]:
    return [
        s for s in parsed(search, **more).test_cases() if isinstance(s, YcsbTestCase) and s.search
    ]


def test_a_search_is_one_test_case_per_mix_and_table_and_keeps_its_limits() -> None:
    (test_case,) = sought(LIMITS)
    assert test_case.mix == "read45-insert55", "a load has no rate to vary"
    assert test_case.threads == 8
    search = test_case.search
    assert search is not None
    assert [str(limit) for limit in search.limits] == [
        "READ p99 <= 20 ms",
        "INSERT p99.9 <= 100 ms",
    ]
    assert (search.cpu_percent, search.start_ops_s, search.start_percent) == (70, 500, None)
    assert test_case.id.endswith("-t8-max-read-p99-20ms-insert-p99.9-100ms-cpu70pct")
    assert not test_case.is_paced, "the rate that it finds is a result"


def test_limits_of_operations_that_a_mix_lacks_are_left_out() -> None:
    found = sought("{max_rate: {read_p99: 5 ms, scan_p99: 9 ms}}", mixes=MIXES)
    assert [[limit.operation for limit in s.search.limits] for s in found if s.search] == [
        ["READ"],
        ["SCAN"],
    ]


@pytest.mark.parametrize(
    ("search", "where", "what"),
    [
        ("{}", "max_rate", "either limits"),
        ("{max_rate: {read_p99: 5 ms}, max_threads_gain: 5%}", "max_threads_gain", "either limits"),
        ("{max_rate: {scan_p99: 5 ms}}", "search.max_rate", "none of the operations"),
        ("{max_rate: {read_p98: 5 ms}}", "read_p98", "read_p99"),
        ("{max_rate: {read_p99: 5}}", "read_p99", "20 ms"),
        ("{until_cpu: 70}", "until_cpu", "70%"),
        ("{until_cpu: 70%, probes: 1}", "probes", "3"),
        ("{until_cpu: 70%, start: fast}", "start", "2000/s"),
        ("{until_cpu: 70%, duration: 1 s}", "search.duration", "nothing"),
    ],
)
def test_a_fault_is_named_with_its_key(search: str, where: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        parsed(search)
    assert where in str(caught.value)
    assert what in str(caught.value)


def test_a_search_needs_a_mix_besides_load() -> None:
    with pytest.raises(InputError, match="besides load"):
        parsed(READS, mixes="mixes: [load]")


def test_the_plan_holds_the_most_probes_in_succession_after_the_saturation() -> None:
    plan = make_plan(parsed(READS), [host()])
    for build in plan.builds:
        mine = [step for step in plan.trials if step.build == build]
        probes = [step for step in mine if step.probe]
        assert [step.probe for step in probes] == [1, 2, 3, 4, 5]
        assert [step.index for step in probes] == list(range(probes[0].index, probes[0].index + 5))
        assert str(probes[0].trial).endswith("-probe01")
        assert list(plan.probes(build, probes[0].test_case.id)) == probes  # type: ignore[union-attr]
        # each may measure for longer than those before
        assert probes[0].estimate_s < probes[1].estimate_s < probes[2].estimate_s
        assert probes[2].estimate_s == probes[4].estimate_s


@pytest.mark.parametrize("seed", range(20))
def test_saturation_precedes_a_search_that_starts_from_it(seed: int) -> None:
    test_cases = tuple(parsed(READS).test_cases())
    ordered = random_order(test_cases, Random(seed))
    place = {test_case.id: at for at, test_case in enumerate(ordered)}
    search = next(s for s in ordered if s.sought)
    needed = [s for s in ordered if s.measures_for(search)]
    assert len(needed) == 2
    assert all(place[s.id] < place[search.id] for s in needed)
    absolute = next(s for s in parsed(LIMITS).test_cases() if s.sought)
    assert not [s for s in test_cases if s.measures_for(absolute)]


def test_a_probe_runs_at_its_load_for_its_time_and_keeps_its_name() -> None:
    (test_case,) = sought(READS)
    probe = Probe(number=3, load=1234.0, stretch=2.0, because="a test")
    run = test_case.at_probe(probe)
    assert run.id == test_case.id
    assert test_case.search is not None
    warm_up_s = test_case.warm_up_s
    assert run.duration_s == warm_up_s + 2 * (test_case.search.duration_s - warm_up_s)
    arguments = client_arguments(run, "raw/ycsb-1-")
    assert arguments[arguments.index("-target") + 1] == "1234"
    assert "measurement.interval=both" in arguments, "limits are of intended latency"
    with pytest.raises(InputError, match="below one operation per second"):
        test_case.at_probe(probe.model_copy(update={"load": 0.5}))


def test_a_search_for_threads_starts_with_the_fewest_and_runs_at_full_speed() -> None:
    (test_case,) = sought("{max_threads_gain: 5%}")
    assert test_case.threads == 4
    run = test_case.at_probe(Probe(number=4, load=32, stretch=1.0, because="a test"))
    assert (run.threads, run.id) == (32, test_case.id)
    assert run.is_saturation
    assert "-target" not in client_arguments(run, "raw/ycsb-1-")


def test_a_test_case_with_a_search_survives_its_json_form() -> None:
    (test_case,) = sought(LIMITS)
    again = YcsbTestCase.model_validate_json(test_case.model_dump_json())
    assert again == test_case
    assert isinstance(again.search, Search)
    assert test_case.summary_fields()["sought"].startswith("highest rate with READ p99")
