"""A plan as CSV, for Slurm and for Nextflow."""

from __future__ import annotations

import csv
from typing import get_args

import pytest

from density_study.analysis.capacity.inputs.profile import Profile, read_profile
from density_study.analysis.capacity.plan.carried import Purchase, Year
from density_study.analysis.capacity.plan.plan import facts, plan_sentence
from density_study.analysis.capacity.plan.words import UNIT_OF, Resource, resource_words
from density_study.dags.cli.capacity.inputs import Format
from density_study.dags.cli.capacity.plan_text import plan_text, request_gib, years_csv
from tests.unit.analysis.capacity.planning import catalogue, plan


def with_used_memory() -> Profile:
    document = read_profile("wgs30x").model_dump(mode="json")
    stage = document["stages"][0]
    stage["ram_used_gib"] = {**stage["ram_gib"], "value": 6.0, "low": 5.0, "high": 6.1}
    document["stages"][1]["ram_gib"] = None
    return Profile.model_validate(document)


def test_a_request_is_the_peak_with_a_quarter_to_spare() -> None:
    used, unknown, requested = with_used_memory().stages[:3]
    assert request_gib(used) == 8  # 6.1 * 1.25 = 7.6
    assert request_gib(unknown) is None
    assert requested.ram_gib is not None
    assert request_gib(requested) == -(-requested.ram_gib.high // 1)


def test_rates_have_the_units_of_their_resources() -> None:
    """Jobs were called operations."""
    assert set(UNIT_OF) == set(get_args(Resource))
    rates = dict.fromkeys([*UNIT_OF, "later"], 1.0)
    told = [
        name for name, _ in facts(plan(20).model_copy(update={"operations_per_usd_hour": rates}))
    ]
    for resource, unit in UNIT_OF.items():
        assert f"{resource_words(resource)}: {unit} per second, per USD per hour" in told
    assert "whole-genome jobs: jobs per second, per USD per hour" in told
    assert "later per second, per USD per hour" in told, "a resource of a later version has no unit"


def test_texts_name_every_stage_and_what_is_unknown() -> None:
    found, profile = plan(20, "turnaround_p95=24h", "query_p95=3s"), with_used_memory()
    config = plan_text(found, profile, catalogue(), Format.nextflow_config)
    assert "withName: '(?i)(.*:)?sort[^A-Za-z0-9]+markdup' {" in config
    assert config.count("cpus = ") == len(profile.stages)
    assert "memory = '8 GB'" in config and "// memory unknown" in config
    host = next(one for one in catalogue().hosts if one.name == found.host_type)
    vms = max(1, found.vms_per_host)
    slurm = plan_text(found, profile, catalogue(), Format.slurm)
    assert f"NodeName=node[1-{found.vms}] CPUs={host.cores // vms} RealMemory=" in slurm
    rows = list(csv.DictReader(plan_text(found, profile, catalogue(), Format.csv).splitlines()))
    assert [row["stage"] for row in rows] == [stage.name for stage in profile.stages]
    assert rows[1]["request_gib"] == ""


@pytest.mark.parametrize("form", [Format.nextflow_config, Format.slurm])
def test_a_name_of_a_host_type_is_never_more_than_a_comment(form: Format) -> None:
    found, hosts = plan(20, "turnaround_p95=24h", "query_p95=3s"), catalogue()
    name = "a\nmine()\rmine()\\u000amine()\u2028mine()"
    host = next(one for one in hosts.hosts if one.name == found.host_type)
    renamed = hosts.model_copy(update={"hosts": (host.model_copy(update={"name": name}),)})
    found = found.model_copy(update={"host_type": name})
    first, *others = plan_text(found, with_used_memory(), renamed, form).splitlines()
    assert first.count("mine()") == 4 and "\\" not in first
    assert not any("mine()" in line for line in others)


def test_the_sentence_has_hosts_cost_probability_bottleneck_and_what_changes_it() -> None:
    found = plan(20, "turnaround_p95=24h", "query_p95=3s")
    text = plan_sentence(found)
    for part in (f"{found.hosts} hosts of type", "USD per genome", f"{found.survival.all_slos:.0%}",
                 f"Bottleneck: {resource_words(found.bottleneck)}", found.sensitivity[0]):  # fmt: skip
        assert part in text


@pytest.mark.parametrize(("usd", "cell"), [(None, ""), (1234.5, "1234.5")])
def test_years_are_rows_and_unknown_is_an_empty_cell(usd: float | None, cell: str) -> None:
    year = Year(year=1, genomes_per_day=26.0, hosts=9, usd=usd)
    row = Purchase(host_type="a", price="bought", vms_per_host=2, disk_types=("hdd",), years=(year,),
                   usd=usd, usd_per_genome=None)  # fmt: skip
    (found,) = csv.DictReader(years_csv([row]).splitlines())
    assert (found["hosts"], found["usd"], found["rack_units"]) == ("9", cell, "")
