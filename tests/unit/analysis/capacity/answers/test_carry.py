"""`carry` is the inverse of `size`, and monotone; growth and its cost are checked by hand."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from density_study.analysis.capacity.curves.model import write_model
from density_study.analysis.capacity.inputs.catalogue import (
    EXAMPLE,
    Catalogue,
    HostType,
    read_standing,
)
from density_study.analysis.capacity.inputs.profile import Profile, read_profile
from density_study.analysis.capacity.inputs.question import parse_promises, question
from density_study.analysis.capacity.plan.carried import Carried, Year, carried_sentence
from density_study.analysis.capacity.plan.plan import Excuse
from density_study.analysis.capacity.sizing.candidates import Search
from density_study.analysis.capacity.sizing.carry import carry, carry_each, rounded_down
from density_study.analysis.capacity.sizing.growth import YEAR_DAYS, Growth, growth
from density_study.analysis.capacity.sizing.purchase import purchases, total_usd
from density_study.analysis.capacity.sizing.sized import Sizing
from density_study.cluster.model.errors import InputError
from density_study.dags.cli import main
from tests.unit.analysis.capacity.planning import catalogue, model

SLOS = ("turnaround_p95=24h", "query_p95=3s")


def standing(name: str, count: int, **more: object) -> Catalogue:
    hosts = [host for host in catalogue().hosts if host.name == name]
    changed = hosts[0].model_copy(update={"count": count, "vms_per_host": 2, **more})
    return catalogue().model_copy(update={"hosts": (changed,)})


def carried(
    name: str, count: int, *slos: str, grows: Growth | None = None, **more: object
) -> Carried | Excuse:
    wanted = question(1.0, parse_promises(slos or SLOS), draws=100)
    return carry(wanted, model(), read_profile("wgs30x"), standing(name, count, **more), grows)


def load(name: str, count: int, *slos: str, **more: object) -> float:
    found = carried(name, count, *slos, **more)  # type: ignore[arg-type]
    return found.genomes_per_day if isinstance(found, Carried) else 0.0


@pytest.mark.parametrize(
    ("name", "count"),
    [
        pytest.param("middle-mixed", 9, marks=pytest.mark.slow),
        ("large-flash", 6),
        pytest.param("rented", 12, marks=pytest.mark.slow),
    ],
)
def test_carry_and_size_are_inverse(name: str, count: int) -> None:
    found = load(name, count)
    assert found > 0
    wanted = question(found, parse_promises(SLOS), draws=100)
    offer = standing(name, count)
    search = Search.of(wanted, model(), read_profile("wgs30x"), offer)
    for factor, fits in ((1.0, True), (1.02, False)):
        candidates = search.at(found * factor).of_host(offer.hosts[0], (2,))
        hosts = [Sizing(one).least() for one in candidates]
        assert any(one is not None and one <= count for one in hosts) == fits


@pytest.mark.slow
def test_clusters_hold_parts_of_the_cohort_by_disk_space() -> None:
    """9 hosts with half of the disks in one of the types have a third of the space: 300 of 900 genomes."""
    (large,) = standing("middle-mixed", 9).hosts
    disks = tuple(one.model_copy(update={"size_gib": one.size_gib / 2}) for one in large.disks)
    small = large.model_copy(update={"name": "small", "disks": disks})
    types = catalogue().model_copy(update={"hosts": (large, small)})
    whole = read_profile("wgs30x")

    def of(genomes: int) -> Profile:
        return whole.model_copy(
            update={"storage": whole.storage.model_copy(update={"genomes_at_start": genomes})}
        )

    wanted = question(1.0, parse_promises(SLOS), draws=100)
    together = carry_each(wanted, model(), of(900), types)
    alone = [
        carry(wanted, model(), of(part), types.model_copy(update={"hosts": (host,)}))
        for part, host in ((600, large), (300, small))
    ]
    found, expected = (
        [one.genomes_per_day for one in answers if isinstance(one, Carried)]
        for answers in (together, alone)
    )
    assert found == expected and len(found) == 2


def test_a_cluster_answers_its_part_of_the_scans_of_each_query() -> None:
    whole = read_profile("cohort-query")
    part = whole.part(0.25)
    assert whole.query is not None and part.query is not None
    assert part.storage.genomes_at_start == 1175
    assert part.query.scans.high == pytest.approx(whole.query.scans.high / 4)
    assert part.query.per_s == whole.query.per_s


@pytest.mark.slow
def test_more_hosts_and_looser_promises_carry_no_less() -> None:
    by_count = [load("middle-mixed", count) for count in (4, 6, 9)]
    assert by_count == sorted(by_count) and by_count[0] < by_count[-1]
    by_slo = [load("middle-mixed", 8, f"turnaround_p95={h}h") for h in (16, 24)]
    assert by_slo == sorted(by_slo)


@pytest.mark.thorough
def test_one_more_part_changes_the_load_as_a_cluster_that_has_it() -> None:
    found = carried("middle-mixed", 8)
    assert isinstance(found, Carried)
    changes = {one.change: one.genomes_per_day for one in found.changes}
    assert changes["one more host"] == load("middle-mixed", 9)
    assert any("hdd disk" in change for change in changes)


@pytest.mark.parametrize(
    ("count", "slos", "why"),
    [
        (1, SLOS, "storage on flash would take at least 11 hosts"),
        (8, ("turnaround_p95=1h",), "a single genome takes longer than turnaround p95 <= 1 h"),
    ],
)
def test_hosts_that_carry_nothing_are_an_excuse(
    count: int, slos: tuple[str, ...], why: str
) -> None:
    found = carried("middle-mixed", count, *slos)
    assert isinstance(found, Excuse)
    assert "carry no load" in found.reasons[0]
    assert any(reason.endswith(why) for reason in found.reasons), found.reasons


def test_a_density_without_a_measurement_is_unknown_and_carries_not_none() -> None:
    found = carried("large-flash", 6, vms_per_host=4)
    assert isinstance(found, Carried)
    whys = {one.change: one.why for one in found.changes if one.genomes_per_day is None}
    assert (
        list(whys) == ["5 VMs per host"] and "not at 5: measure it there" in whys["5 VMs per host"]
    )


@pytest.mark.slow
def test_a_host_without_a_price_carries_as_much() -> None:
    grows = Growth(2, 0.3, 2)
    with_price = carried("middle-mixed", 8, grows=grows)
    without = carried("middle-mixed", 8, grows=grows, capex_usd=None, maintenance=0.0)
    assert isinstance(with_price, Carried) and isinstance(without, Carried)
    assert without.genomes_per_day == with_price.genomes_per_day
    assert all(year.usd is None for year in without.years)
    assert all(year.usd for year in with_price.years)


def test_the_day_when_hosts_are_full() -> None:
    """20 genomes a day at 30 % a year are 26 after a year."""
    grows = Growth(20, 0.3, 5, date(2026, 1, 1))
    assert grows.load(YEAR_DAYS) == pytest.approx(26.0)
    assert grows.days_until(26.0) == pytest.approx(YEAR_DAYS)
    assert grows.days_until(19.0) == 0.0
    assert Growth(20, 0.0).days_until(26.0) is None
    days = [Growth(20, rate).days_until(40.0) or 0 for rate in (0.05, 0.1, 0.3, 1.0)]
    assert days == sorted(days, reverse=True)


@pytest.mark.parametrize("rate", [0.0, 0.3, 2.0])
def test_genomes_that_are_kept_are_the_sum_over_days(rate: float) -> None:
    grows = Growth(10, rate)
    middles = np.arange(0.5, 1000)
    daily = 10 * (1 + rate) ** (middles / YEAR_DAYS)
    kept = grows.genomes(1000.0, np.array([90.0, 5000.0]))
    assert kept == pytest.approx([daily[-90:].sum(), daily.sum()], rel=1e-3)


def test_a_growing_load_is_full_when_its_data_are() -> None:
    found = carried("large-flash", 6, grows=Growth(5, 0.2, 3, date(2026, 1, 1)))
    assert isinstance(found, Carried)
    days = [one.days for one in found.full if one.days is not None]
    assert days == sorted(days) and found.full[0].limit.startswith("data fill")
    assert found.full[0].date and found.full[0].date in carried_sentence(found)
    assert "these are empty today (genomes_at_start" in found.warnings[0]
    hosts = [year.hosts or 0 for year in found.years]
    assert hosts == sorted(hosts)


@pytest.mark.parametrize(("text", "share"), [("30%", 0.3), ("0.3", 0.3), ("0%", 0.0), ("300%", 3)])
def test_growth_is_a_percentage_or_a_share(text: str, share: float) -> None:
    assert growth(20, text, 5).per_year == pytest.approx(share)


@pytest.mark.parametrize(
    ("today", "text", "years"),
    [
        (20, "-5%", 5),
        (20, "30 per cent", 5),
        (20, "1000%", 5),
        (0, "30%", 5),
        (20, "30%", 0),
        (20, "nan", 5),
        (20, "3", 5),
        (20, "1.5", 5),
        (5e6, "30%", 5),
    ],
)
def test_an_impossible_growth_is_refused(today: float, text: str, years: int) -> None:
    with pytest.raises(InputError):
        growth(today, text, years)


def priced(**more: object) -> HostType:
    host = catalogue().hosts[0].model_dump(mode="json")
    host |= {
        "capex_usd": None,
        "usd_per_hour": None,
        "maintenance": 0.0,
        "kw": 0.0,
        "operations_usd_per_day": 0.0,
    }
    return HostType.model_validate({**host, **more})


def test_whole_terms_are_paid() -> None:
    """2 hosts, then 3: on demand 2 + 3 host-years; reserved for three years 2 x 3 + 1 x 3; bought for 3 x 3
    years of life, with power for 5."""
    found = [Year(year=n, genomes_per_day=1, hosts=n + 1, usd=None) for n in (1, 2)]
    site = catalogue().site
    year_usd = 24 * YEAR_DAYS
    assert total_usd(priced(usd_per_hour=1.0), site, found) == pytest.approx(5 * year_usd)
    reserved = priced(usd_per_hour=1.0, commit_years=3)
    assert total_usd(reserved, site, found) == pytest.approx(9 * year_usd)
    bought = priced(capex_usd=5472.0, kw=0.1)
    power = 0.1 * 24 * site.pue * site.usd_per_kwh * YEAR_DAYS
    assert total_usd(bought, site, found) == pytest.approx(9 * 5 * YEAR_DAYS + 5 * power)
    assert [host.price_kind for host in (reserved, bought)] == ["reserved, 3 y", "bought"]


@pytest.mark.slow
def test_a_dearer_host_or_a_larger_growth_never_costs_less() -> None:
    wanted = question(1.0, parse_promises(SLOS), draws=100)

    def usd(grows: Growth, factor: float) -> float:
        host = standing("middle-mixed", 1).hosts[0]
        dearer = host.model_copy(update={"capex_usd": (host.capex_usd or 0) * factor})
        offer = catalogue().model_copy(update={"hosts": (dearer,)})
        rows, _ = purchases(wanted, model(), read_profile("wgs30x"), offer, grows)
        return rows[0].usd or 0.0

    costs = [usd(Growth(5, rate, 2), 1.0) for rate in (0.0, 0.4)]
    assert costs == sorted(costs) and costs[0] > 0
    assert usd(Growth(5, 0.4, 2), 1.5) > costs[1]


def test_answers_are_rounded_down() -> None:
    assert [rounded_down(load) for load in (13.29, 13.2, 0.012399, 1999.0)] == [
        13.2,
        13.2,
        0.0123,
        1990.0,
    ]


def test_hosts_without_a_count_and_a_growth_without_a_load_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none of .* has a count"):
        read_standing(EXAMPLE)
    options = ["capacity", "carry", *_files(tmp_path), "--growth", "20%"]
    refused = CliRunner().invoke(main.app, options)
    assert isinstance(refused.exception, InputError) or refused.exit_code == 2


def _files(folder: Path) -> list[str]:
    """The example's model, and its catalogue with 8 standing hosts, as options."""
    document = yaml.safe_load(EXAMPLE.read_text())
    document["hosts"][2] |= {"count": 8, "vms_per_host": 2}
    (folder / "mine.yaml").write_text(yaml.safe_dump(document))
    write_model(model(), folder / "model.json")
    return ["--hosts", str(folder / "mine.yaml"), "--model", str(folder / "model.json")]


@pytest.mark.slow
def test_the_commands(tmp_path: Path) -> None:
    run = CliRunner().invoke
    standing_hosts = _files(tmp_path)
    few = ["--draws", "100", "--slo", "turnaround_p95=24h"]
    found = run(main.app, ["capacity", "years", "--today", "5", "--growth", "20%", "--years", "2",
                           "--hosts", str(EXAMPLE), *standing_hosts[2:], *few])  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "USD over 2 years" in found.output
    assert found.output.startswith("EXAMPLE, made-up figures: ")
    assert "batch job at several densities" in " ".join(found.output.split())
    found = run(main.app, ["capacity", "years", "--today", "5", "--years", "1", "--csv",
                           "--hosts", str(EXAMPLE), *standing_hosts[2:], *few])  # fmt: skip
    assert found.stdout.startswith("host_type,") and "warnings" not in found.stdout
    assert "EXAMPLE catalogue example" in found.stderr
    found = run(main.app, ["capacity", "size", "--genomes-per-day", "5", "--format", "slurm",
                           "--hosts", str(EXAMPLE), *standing_hosts[2:], *few])  # fmt: skip
    assert found.stdout.startswith("# EXAMPLE") and "warnings" not in found.stdout
    assert "batch job at several densities" in " ".join(found.stderr.split())
    options = ["capacity", "carry", *standing_hosts, *few]
    found = run(main.app, [*options, "--today", "3", "--growth", "20%"])
    assert found.exit_code == 0, found.output
    assert "8 hosts of type middle-mixed" in found.output and "one more host" in found.output
    shown = run(main.app, [*options, "--json"])
    assert [one["hosts"] for one in json.loads(shown.output)] == [8]


def test_the_cost_of_years_repeats_what_nobody_measured_and_what_is_made_up() -> None:
    """A profile of a trace without CPU times buys too little in every year."""
    profile = read_profile("wgs30x").model_copy(update={"unknown": ("stage x: CPU unknown",)})
    wanted = question(1.0, parse_promises(["turnaround_p95=24h"]), draws=100)
    rows, _ = purchases(wanted, model(), profile, catalogue(), Growth(5.0, 0.2, 2))
    assert rows
    for row in rows:
        assert "stage x: CPU unknown" in row.warnings and row.example
