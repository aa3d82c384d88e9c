"""Plans and excuses, for the shipped example and parts of it."""

from __future__ import annotations

import pytest

from density_study.analysis.capacity.curves.fit import fit
from density_study.analysis.capacity.inputs.catalogue import Catalogue
from density_study.analysis.capacity.inputs.point import Point
from density_study.analysis.capacity.inputs.profile import Profile, read_profile
from density_study.cluster.model.errors import InputError
from tests.unit.analysis.capacity.planning import answer, catalogue, excuse, model, plan, points


def test_a_plan_includes_every_requested_value() -> None:
    result = plan(20, "turnaround_p95=24h", "query_p95=3s")
    assert result.hosts >= 2
    assert result.vms == result.hosts * result.vms_per_host
    assert result.survival.all_slos >= 0.9
    assert result.turnaround_p95_h is not None
    assert result.query_p95_s is not None
    assert result.turnaround_p95_h.q95 <= 24
    assert result.query_p95_s.q95 <= 3
    for spread in (result.hosts_needed, result.usd_per_genome, result.headroom):
        assert spread.q05 <= spread.q50 <= spread.q95
    assert result.hosts_needed.q50 <= result.hosts
    assert result.bottleneck in {load.resource.split(" (")[0] for load in result.loads}
    assert {stage.stage for stage in result.stages} >= {"align", "load"}
    assert result.sensitivity
    assert result.alternatives
    numbers = {item.number for item in result.evidence}
    assert {"rate of hbase_write", "align.core_hours", "query latency", "prices"} <= numbers
    assert all(item.based_on and item.tag for item in result.evidence)
    assert "leave-one-out" in result.hold_out


@pytest.mark.thorough
def test_more_genomes_need_more_hosts_and_cost_per_genome_follows_the_equation() -> None:
    few, many = plan(20), plan(60)
    assert many.hosts > few.hosts
    host = next(offer for offer in catalogue().hosts if offer.name == few.host_type)
    assert host.capex_usd is not None
    day = (
        host.capex_usd * (1 + host.maintenance) / (36 * 30.4)
        + host.kw * 24 * 1.4 * 0.16
        + host.operations_usd_per_day
    )
    assert few.usd_per_genome_as_bought == pytest.approx(few.hosts * day / 20)


@pytest.mark.parametrize("seed", [2, 3, 6])
def test_noise_of_the_draws_is_no_effect_of_an_input(seed: int) -> None:
    """The disks decide, and of fifty inputs of a few hundred draws some differ by chance."""
    named = [line for line in plan(150, seed=seed).sensitivity if "lowest fifth" in line]
    assert [line.partition(":")[0] for line in named] == ["days that cram is kept"]


@pytest.mark.thorough
def test_the_same_seed_gives_the_same_plan_and_another_a_similar_one() -> None:
    first, same, other = plan(30), answer(30), plan(30, seed=7)
    assert same.kind == "plan"
    assert first.model_copy(update={"created": ""}) == same.model_copy(update={"created": ""})
    # Two host types may cost nearly the same: only the price must agree between seeds.
    assert other.usd_per_genome_as_bought == pytest.approx(first.usd_per_genome_as_bought, rel=0.15)


@pytest.mark.thorough
def test_a_plan_keeps_its_promises_in_nine_of_ten_draws() -> None:
    result = plan(30)
    assert result.survival.all_slos >= 0.9
    assert result.hosts_needed.q50 <= result.hosts <= result.hosts_needed.q95


def test_equal_hosts_have_the_capacity_of_the_equation() -> None:
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
    result = plan(100, profile=profile, hosts=Catalogue.model_validate(hosts))
    compute = next(load for load in result.loads if load.resource.startswith("compute"))
    storage = next(load for load in result.loads if load.resource.startswith("storage"))
    assert result.bottleneck == "compute"
    assert result.hosts == -(-100 * 100 // (24 * 64 * 0.8)) + 1
    assert compute.rho.q50 == pytest.approx(100 * 100 / 24 / 64 / result.hosts)
    assert storage.rho_one_lost.q50 <= 1
    assert result.survival.all_slos >= 0.9


def only(**where: object) -> tuple[Point, ...]:
    """The example's points whose fields have the given values (a tuple allows several)."""
    allowed = {key: value if isinstance(value, tuple) else (value,) for key, value in where.items()}
    return tuple(
        p for p in points() if all(getattr(p, key) in values for key, values in allowed.items())
    )


def test_points_at_one_host_count_give_no_plan() -> None:
    result = excuse(20, fitted=fit(only(hosts=4), []))
    text = " ".join(result.reasons)
    assert "measured only at 4 hosts" in text
    assert "measure at 3 or more host counts" in text


@pytest.mark.thorough
def test_an_unmeasured_resource_is_named_with_the_remedy() -> None:
    fitted = fit(tuple(p for p in points() if p.group != "hbase-load"), [])
    result = excuse(20, fitted=fitted)
    assert "no measured group provides hbase_write" in " ".join(result.reasons)
    assert "--measured-by hbase_write=GROUP" in " ".join(result.reasons)
    assert plan(20, fitted=fitted, mapped=["hbase_write=hbase-scan"]).hosts
    with pytest.raises(InputError, match="not a group"):
        answer(20, fitted=fitted, mapped=["hbase_write=nothing"])


@pytest.mark.slow
def test_a_query_promise_without_matching_latencies_is_excused() -> None:
    fitted = fit(tuple(p for p in points() if p.quantity != "latency"), [])
    assert "no latency by load" in " ".join(excuse(20, "query_p95=3s", fitted=fitted).reasons)
    assert "not p99: measure that percentile" in " ".join(excuse(20, "query_p99=3s").reasons)
    result = excuse(20, "query_p95=0.001s")
    assert "cannot be met" in " ".join(result.reasons)


def test_a_turnaround_shorter_than_the_stages_is_excused() -> None:
    result = excuse(20, "turnaround_p95=2h")
    assert "turnaround p95 <= 2 h is not met" in " ".join(result.reasons)
    assert any("more concurrent tasks" in step for step in result.next_steps)


def test_load_beyond_the_fitted_domain_is_excused_not_extrapolated() -> None:
    result = excuse(20000)
    text = " ".join(result.reasons)
    assert "was measured up to 12 hosts" in text
    assert "no forecast beyond" in text


def test_load_below_the_fitted_domain_needs_the_smallest_measured_count() -> None:
    result = plan(0.1, profile=read_profile("exome"))
    assert result.hosts == 3, "2 hosts is the smallest measured count, and one may be lost"


def test_memory_excludes_a_density_and_the_stage_is_named() -> None:
    base = read_profile("wgs30x").model_dump(mode="json")
    base["stages"][0]["ram_gib"] = {
        "value": 117,
        "low": 117,
        "high": 117,
        "tag": "published",
        "source": "t",
    }
    result = plan(20, profile=Profile.model_validate(base))
    assert "the memory of align (117 GiB per task)" in " ".join(result.left_out)
    base["stages"][0]["ram_gib"].update(value=9999, high=9999, low=9999)
    text = " ".join(excuse(20, profile=Profile.model_validate(base)).reasons)
    assert "the memory of align (9999 GiB per task)" in text


@pytest.mark.thorough
def test_hosts_without_a_price_are_excluded_and_named() -> None:
    value = catalogue().model_dump(mode="json")
    value["hosts"][0]["capex_usd"] = None
    result = plan(20, hosts=Catalogue.model_validate(value))
    assert any("small-flash: its price is missing" in text for text in result.left_out)


def test_what_to_do_next_follows_from_the_reason_not_from_a_name_in_it() -> None:
    value = catalogue().model_dump(mode="json")
    value["hosts"] = [{**value["hosts"][0], "capex_usd": None, "name": "measured"}]
    result = excuse(20, hosts=Catalogue.model_validate(value))
    assert result.next_steps == ("add prices to the host types in the catalogue",)


@pytest.mark.slow
def test_an_unmeasured_disk_type_is_excluded_and_named() -> None:
    result = plan(20, fitted=fit(only(disk_type="flash"), []))
    assert (result.disk_type_sequential, result.disk_type_random) == ("flash", "flash")
    assert "measured only on flash, not on hdd" in " ".join(result.left_out)


@pytest.mark.slow
def test_an_extrapolation_causes_a_warning() -> None:
    result = plan(100)
    assert any("was measured up to 12 hosts" in text for text in result.warnings)
    assert model().excuses == ()
    few = fit(only(vms_per_host=(1, 2, 4)), [])
    assert any("beta = 0" in text for text in plan(20, fitted=few).warnings)


@pytest.mark.thorough
def test_storage_follows_retention_replication_and_horizon() -> None:
    base = read_profile("wgs30x").model_dump(mode="json")
    whole = plan(20)
    base["storage"]["horizon_days"] = 365
    year = plan(20, profile=Profile.model_validate(base))
    assert sum(t.q50 for t in year.storage_tib.values()) < 0.8 * sum(
        t.q50 for t in whole.storage_tib.values()
    )


def test_a_profile_with_only_queries_can_be_planned() -> None:
    result = plan(1, "query_p95=3s", profile=read_profile("cohort-query"))
    assert result.turnaround_p95_h is None
    assert result.stages == ()
    with pytest.raises(InputError, match="no stages"):
        answer(1, "turnaround_p95=3h", profile=read_profile("cohort-query"))


@pytest.mark.parametrize(
    "text", ["turnaround=3h", "turnaround_p95=3", "query_p95=3 MiB/s", "x_p95=3s", "query_p0=3s"]
)
def test_an_invalid_promise_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        answer(20, text)


def test_zero_genomes_and_duplicate_promises_are_refused() -> None:
    with pytest.raises(InputError, match="is not plausible"):
        answer(0)
    with pytest.raises(InputError, match="the same quantity"):
        answer(1, "query_p95=3s", "query_p99=3s")
