"""Plans and excuses, on the shipped example and on parts of it."""

from __future__ import annotations

import pytest

from analysis.capacity.curves.fit import fit
from analysis.capacity.inputs.catalogue import Catalogue
from analysis.capacity.inputs.points import Point
from analysis.capacity.inputs.profile import Profile, read_profile
from cluster.model.errors import InputError
from tests.unit.analysis.capacity.planning import asked, catalogue, excuse, model, plan, points


def test_a_plan_names_everything_that_was_asked_for() -> None:
    found = plan(20, "turnaround_p95=24h", "query_p95=3s")
    assert found.hosts >= 2
    assert found.vms == found.hosts * found.vms_per_host
    assert found.survival.all_slos >= 0.9
    assert found.turnaround_p95_h is not None
    assert found.query_p95_s is not None
    assert found.turnaround_p95_h.q95 <= 24
    assert found.query_p95_s.q95 <= 3
    for spread in (found.hosts_needed, found.usd_per_genome, found.headroom):
        assert spread.q05 <= spread.q50 <= spread.q95
    assert found.hosts_needed.q50 <= found.hosts
    assert found.bottleneck in {load.resource.split(" (")[0] for load in found.loads}
    assert {stage.stage for stage in found.stages} >= {"align", "load"}
    assert found.sensitivity
    assert found.alternatives
    numbers = {one.number for one in found.evidence}
    assert {"rate of hbase_write", "align.core_hours", "query latency", "prices"} <= numbers
    assert all(one.based_on and one.tag for one in found.evidence)
    assert "leave-one-out" in found.hold_out


def test_more_genomes_need_more_hosts_and_cost_per_genome_is_the_equations() -> None:
    few, many = plan(20), plan(60)
    assert many.hosts > few.hosts
    host = next(one for one in catalogue().hosts if one.name == few.host_type)
    assert host.capex_usd is not None
    day = (
        host.capex_usd * (1 + host.maintenance) / (36 * 30.4)
        + host.kw * 24 * 1.4 * 0.16
        + host.operations_usd_per_day
    )
    assert few.usd_per_genome_as_bought == pytest.approx(few.hosts * day / 20)


@pytest.mark.thorough
def test_the_same_seed_gives_the_same_plan_and_another_nearly() -> None:
    one, same, other = plan(30), asked(30), plan(30, seed=7)
    assert same.kind == "plan"
    assert one.model_copy(update={"created": ""}) == same.model_copy(update={"created": ""})
    # Two host types may cost nearly the same: the price is what another seed must leave.
    assert other.usd_per_genome_as_bought == pytest.approx(one.usd_per_genome_as_bought, rel=0.15)


def test_a_plan_keeps_its_promises_in_nine_draws_of_ten() -> None:
    found = plan(30)
    assert found.survival.all_slos >= 0.9
    assert found.hosts_needed.q50 <= found.hosts <= found.hosts_needed.q95


def test_equal_hosts_carry_what_the_equation_says() -> None:
    """A compute-bound profile without ranges: hosts = ceil(core-hours * N / (24 * cores * rho)) + 1."""
    base = read_profile("wgs30x").model_dump(mode="json")
    exact = {"value": 1.0, "low": 1.0, "high": 1.0, "tag": "assumed", "source": "test"}
    stage = {
        "name": "only", "core_hours": {**exact, "value": 100.0, "low": 100.0, "high": 100.0},
        "tasks": 1, "cores_per_task": 1,
    }  # fmt: skip
    profile = Profile.model_validate(
        {
            **base, "stages": [stage], "query": None, "peak": exact, "availability": exact,
            "storage": {**base["storage"], "horizon_days": 1},  # so that disks are no bottleneck
        }
    )  # fmt: skip
    hosts = catalogue().model_dump(mode="json")
    hosts["hosts"] = [{**hosts["hosts"][4], "cpu_speed": exact}]
    found = plan(100, profile=profile, hosts=Catalogue.model_validate(hosts))
    compute = next(load for load in found.loads if load.resource.startswith("compute"))
    storage = next(load for load in found.loads if load.resource.startswith("storage"))
    assert found.bottleneck == "compute"
    assert found.hosts == -(-100 * 100 // (24 * 64 * 0.8)) + 1
    assert compute.rho.q50 == pytest.approx(100 * 100 / 24 / 64 / found.hosts)
    assert storage.rho_one_lost.q50 <= 1
    assert found.survival.all_slos >= 0.9


def only(**where: object) -> tuple[Point, ...]:
    """The example's points that have one of the values (a tuple), or the value, of each field."""
    allowed = {key: value if isinstance(value, tuple) else (value,) for key, value in where.items()}
    return tuple(
        p for p in points() if all(getattr(p, key) in found for key, found in allowed.items())
    )


def test_points_at_one_host_count_give_no_plan() -> None:
    found = excuse(20, fitted=fit(only(hosts=4), []))
    text = " ".join(found.reasons)
    assert "measured only at 4 hosts" in text
    assert "measure at 3 or more host counts" in text


@pytest.mark.thorough
def test_a_resource_that_was_not_measured_is_named_with_the_way_out() -> None:
    fitted = fit(tuple(p for p in points() if p.group != "hbase-load"), [])
    found = excuse(20, fitted=fitted)
    assert "no measured group provides hbase_write" in " ".join(found.reasons)
    assert "--map hbase_write=GROUP" in " ".join(found.reasons)
    assert plan(20, fitted=fitted, mapped=["hbase_write=hbase-scan"]).hosts
    with pytest.raises(InputError, match="not a group"):
        asked(20, fitted=fitted, mapped=["hbase_write=nothing"])


@pytest.mark.thorough
def test_a_query_promise_without_latencies_or_beyond_them_is_excused() -> None:
    fitted = fit(tuple(p for p in points() if p.quantity != "latency"), [])
    assert "no latency by load" in " ".join(excuse(20, "query_p95=3s", fitted=fitted).reasons)
    assert "not p99: measure that percentile" in " ".join(excuse(20, "query_p99=3s").reasons)
    found = excuse(20, "query_p95=0.001s")
    assert "cannot be met" in " ".join(found.reasons)


def test_a_turnaround_shorter_than_the_stages_is_excused() -> None:
    found = excuse(20, "turnaround_p95=2h")
    assert "turnaround p95 <= 2 h is not met" in " ".join(found.reasons)
    assert any("more concurrent tasks" in step for step in found.next_steps)


def test_load_beyond_the_fitted_domain_is_excused_not_extrapolated() -> None:
    found = excuse(20000)
    text = " ".join(found.reasons)
    assert "was measured up to 12 hosts" in text
    assert "no forecast beyond" in text


def test_load_below_the_fitted_domain_buys_the_smallest_measured_count() -> None:
    found = plan(0.1, profile=read_profile("exome"))
    assert found.hosts == 3, "2 hosts is the smallest measured count, and one may be lost"


def test_memory_forbids_a_density_and_says_which_stage() -> None:
    base = read_profile("wgs30x").model_dump(mode="json")
    base["stages"][0]["ram_gib"] = {
        "value": 117,
        "low": 117,
        "high": 117,
        "tag": "published",
        "source": "t",
    }
    found = plan(20, profile=Profile.model_validate(base))
    assert "the memory of align (117 GiB per task)" in " ".join(found.left_out)
    base["stages"][0]["ram_gib"].update(value=9999, high=9999, low=9999)
    text = " ".join(excuse(20, profile=Profile.model_validate(base)).reasons)
    assert "the memory of align (9999 GiB per task)" in text


def test_hosts_without_a_price_are_left_out_and_named() -> None:
    value = catalogue().model_dump(mode="json")
    value["hosts"][0]["capex_usd"] = None
    found = plan(20, hosts=Catalogue.model_validate(value))
    assert any("small-flash: its price is missing" in text for text in found.left_out)


def test_a_medium_that_was_not_measured_is_left_out_and_named() -> None:
    found = plan(20, fitted=fit(only(medium="flash"), []))
    assert (found.medium_sequential, found.medium_random) == ("flash", "flash")
    assert "measured only on flash, not on hdd" in " ".join(found.left_out)


@pytest.mark.thorough
def test_an_extrapolation_causes_a_warning() -> None:
    found = plan(100)
    assert any("was measured up to 12 hosts" in text for text in found.warnings)
    assert model().excuses == ()
    few = fit(only(vms_per_host=(1, 2, 4)), [])
    assert any("beta = 0" in text for text in plan(20, fitted=few).warnings)


def test_storage_follows_retention_replication_and_horizon() -> None:
    base = read_profile("wgs30x").model_dump(mode="json")
    whole = plan(20)
    base["storage"]["horizon_days"] = 365
    year = plan(20, profile=Profile.model_validate(base))
    assert sum(t.q50 for t in year.storage_tib.values()) < 0.8 * sum(
        t.q50 for t in whole.storage_tib.values()
    )


def test_a_profile_of_queries_alone_can_be_planned() -> None:
    found = plan(1, "query_p95=3s", profile=read_profile("cohort-query"))
    assert found.turnaround_p95_h is None
    assert found.stages == ()
    with pytest.raises(InputError, match="no stages"):
        asked(1, "turnaround_p95=3h", profile=read_profile("cohort-query"))


@pytest.mark.parametrize(
    "text", ["turnaround=3h", "turnaround_p95=3", "query_p95=3 MiB/s", "x_p95=3s", "query_p0=3s"]
)
def test_a_promise_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        asked(20, text)


def test_no_genomes_and_two_promises_about_one_are_refused() -> None:
    with pytest.raises(InputError, match="must be positive"):
        asked(0)
    with pytest.raises(InputError, match="the same quantity"):
        asked(1, "query_p95=3s", "query_p99=3s")
