"""Files on a file system that all hosts mount, such as NFS or Lustre."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from pydantic import ValidationError

from density_study.analysis.capacity.curves.fit import fit
from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.inputs.catalogue import EXAMPLE, Catalogue
from density_study.analysis.capacity.inputs.profile import SEQUENTIAL, read_profile
from density_study.analysis.capacity.inputs.question import parse_promises, question
from density_study.analysis.capacity.plan.carried import Carried
from density_study.analysis.capacity.plan.plan import Excuse, Plan
from density_study.analysis.capacity.sizing.candidate import FARTHEST, Candidate
from density_study.analysis.capacity.sizing.candidates import DISK_EFFICIENCY, Search
from density_study.analysis.capacity.sizing.carry import carry, carry_each
from density_study.analysis.capacity.sizing.growth import growth
from density_study.analysis.capacity.sizing.purchase import purchases
from density_study.analysis.capacity.sizing.size import _beyond as beyond
from density_study.analysis.capacity.sizing.size import size
from tests.unit.analysis.capacity.planning import DRAWS, model, points

SHARED = Catalogue.read(EXAMPLE.parent / "shared.yaml")
MIB_S = 50e9 / 8 / 2**20  # of a host with 50 Gbit/s


def changed(**more: object) -> Catalogue:
    store = SHARED.shared[0].model_copy(update=more)
    return SHARED.model_copy(update={"shared": (store,)})


@cache
def with_lustre() -> Model:
    """Measured on lustre, too."""
    measured = [
        one.model_copy(update={"disk_type": "lustre"}) for one in points() if one.disk_type == "hdd"
    ]
    return fit([*points(), *measured], ["x"])


def on_lustre(hosts: Catalogue = SHARED, genomes: float = 20) -> Candidate:
    search = Search.of(question(genomes, (), draws=DRAWS), model(), read_profile("wgs30x"), hosts)
    found = (one for one in search.candidates() if one.vms_per_host == 1)
    return next(one for one in found if one.disk_type_sequential == "lustre")


def test_rates_are_those_of_the_networks_up_to_that_of_the_whole() -> None:
    """By hand: 2 hosts move 2 * 5,960 MiB/s; 4 hosts would move 23,842, and the file system moves 20,000."""
    (read, write) = (
        next(one for one in on_lustre().provided if one.resource == name)
        for name in ("hdfs_read", "hdfs_write")
    )
    for supplied in (read, write):  # no replicas: a write moves what a read does
        medians = [float(np.median(supplied.rate(hosts))) for hosts in (2, 4, 40)]
        expected = [DISK_EFFICIENCY * one for one in (2 * MIB_S, 20_000, 20_000)]
        assert medians == pytest.approx(expected, rel=0.06)


def test_files_are_kept_once_and_no_host_adds_space() -> None:
    lustre = on_lustre()
    local = replace(lustre, shared=None)
    scratch = lustre.demand.scratch_gib(lustre.path_s())
    once = lustre.stored_gib["lustre"] - scratch
    assert local.stored_gib["lustre"] - scratch == pytest.approx(3 * once)
    assert lustre.space("lustre", 2) == lustre.space("lustre", 50) == 2_000_000 * 0.75
    full = on_lustre(changed(size_gib=float(np.median(once)) / 2))
    assert np.isinf(full.needs["storage on lustre"]).mean() > 0.9


def test_the_file_system_is_chosen_where_it_is_cheaper_and_is_paid() -> None:
    wanted = question(20, parse_promises(["turnaround_p95=48h"]), draws=DRAWS)
    plans = [
        size(wanted, model(), read_profile("wgs30x"), changed(usd_per_day=usd))
        for usd in (0.0, 24.0)
    ]
    free, paid = plans
    assert isinstance(free, Plan) and isinstance(paid, Plan)
    assert free.disk_type_sequential == paid.disk_type_sequential == "lustre"
    assert paid.hosts == free.hosts
    assert paid.usd_per_genome_as_bought == pytest.approx(free.usd_per_genome_as_bought + 24 / 20)
    assert paid.usd_per_hour == pytest.approx(free.usd_per_hour + 1)
    assert paid.usd_per_genome.q50 == pytest.approx(free.usd_per_genome.q50 + 24 / 20, rel=0.05)
    assert any(
        "was not measured on lustre" in line and "hosts' network and lustre carry" in line
        for line in free.warnings
    )


def test_a_slow_file_system_carries_no_load_beyond_its_rate() -> None:
    found = [
        size(question(20, (), draws=DRAWS), model(), read_profile("wgs30x"), changed(mib_s=mib_s))
        for mib_s in (20_000, 100)
    ]
    assert [one.disk_type_sequential for one in found if isinstance(one, Plan)] == [
        "lustre",
        "flash",
    ]


@pytest.mark.slow
def test_the_reason_why_no_host_is_enough_names_the_rate_of_a_measured_file_system() -> None:
    asked = question(3000, (), draws=DRAWS)
    found = size(asked, with_lustre(), read_profile("wgs30x"), changed(mib_s=100))
    assert isinstance(found, Excuse)
    assert any(
        "on lustre" in reason and "lustre carries 100/s in all" in reason
        for reason in found.reasons
    )


def on_measured_lustre(
    hosts: Catalogue, network_gbit_s: float | None, genomes: float = 20
) -> Search:
    changed_hosts = tuple(
        one.model_copy(update={"cores": 16, "network_gbit_s": network_gbit_s})
        for one in hosts.hosts
    )
    return Search.of(
        question(genomes, (), draws=DRAWS),
        with_lustre(),
        read_profile("wgs30x"),
        hosts.model_copy(update={"hosts": changed_hosts}),
    )


@pytest.mark.parametrize("network_gbit_s", [10, None])
def test_no_forecast_of_a_measured_group_exceeds_the_whole_file_system(
    network_gbit_s: float | None,
) -> None:
    search = on_measured_lustre(changed(mib_s=100), network_gbit_s)
    one = next(c for c in search.candidates() if c.disk_type_sequential == "lustre")
    for supplied in one.provided:
        if supplied.resource in SEQUENTIAL:
            assert supplied.supply.group != "the catalogue's disks"
            assert supplied.rate(FARTHEST).max() == pytest.approx(100)


@pytest.mark.parametrize(
    ("gbit_s", "said"),
    [
        (0.01, f"its network carries {0.01e9 / 8 / 2**20:.4g}/s a host"),
        (10, "lustre carries 100/s in all"),
    ],
)
def test_the_bound_that_is_named_is_the_one_that_binds(gbit_s: float, said: str) -> None:
    hosts = changed(mib_s=100)
    unknown = hosts.measured_on.model_copy(update={"network_gbit_s": None})
    hosts = hosts.model_copy(update={"measured_on": unknown})
    search = on_measured_lustre(hosts, gbit_s, genomes=2000)
    one = next(c for c in search.candidates() if c.disk_type_sequential == "lustre")
    supplied = max(one.provided, key=lambda s: float((~np.isfinite(s.need())).mean()))
    alone = replace(one, provided=(supplied,))
    assert supplied.resource in SEQUENTIAL
    reason = beyond(alone, search)
    assert said in reason, reason


def test_points_measured_on_it_count_and_not_its_data_sheet() -> None:
    search = on_measured_lustre(SHARED, 10)
    one = next(c for c in search.candidates() if c.disk_type_sequential == "lustre")
    read = next(supplied for supplied in one.provided if supplied.resource == "hdfs_read")
    assert read.supply.group != "the catalogue's disks"
    assert not any("not measured on lustre" in line for line in search.warnings)
    # as on the host that was measured: the file system is the same
    assert float(np.median(read.factor)) == pytest.approx(1.0, abs=0.02)


@pytest.mark.slow
def test_hosts_that_stand_carry_by_it_and_two_clusters_share_it() -> None:
    stands = SHARED.model_copy(
        update={"hosts": (SHARED.hosts[0].model_copy(update={"count": 8, "vms_per_host": 1}),)}
    )
    wanted = question(1.0, parse_promises(["turnaround_p95=48h"]), draws=100)
    alone = carry(wanted, model(), read_profile("wgs30x"), stands, growth(5, "30%", 3))
    assert isinstance(alone, Carried) and alone.disk_type_sequential == "lustre"
    assert not any("lustre disk" in one.change for one in alone.changes)
    assert any("lustre" in one.limit for one in alone.full)
    twins = tuple(stands.hosts[0].model_copy(update={"name": name}) for name in "ab")
    both = carry_each(
        wanted, model(), read_profile("wgs30x"), stands.model_copy(update={"hosts": twins})
    )
    halves = stands.model_copy(update={"shared": (stands.shared[0].part(0.5),)})
    half = carry(wanted, model(), read_profile("wgs30x").part(0.5), halves)
    assert not isinstance(half, Excuse)
    loads = [one.genomes_per_day for one in both if isinstance(one, Carried)]
    assert loads == pytest.approx([half.genomes_per_day] * 2, rel=0.01)


def test_years_pay_for_it() -> None:
    wanted, grows = question(5, (), draws=100), growth(5, "10%", 2)
    totals = []
    for usd in (0.0, 100.0):
        (row,), _ = purchases(
            wanted, model(), read_profile("wgs30x"), changed(usd_per_day=usd), grows
        )
        assert row.usd is not None and row.disk_types[0] == "lustre"
        totals.append((row.usd, *(year.usd for year in row.years)))
    extra = np.array(totals[1]) - np.array(totals[0])
    assert extra == pytest.approx(np.array([2, 1, 1]) * 365.25 * 100)


def test_a_shared_disk_type_is_not_one_of_a_host() -> None:
    document = SHARED.model_dump(mode="json")
    document["shared"][0]["disk_type"] = "flash"
    with pytest.raises(ValidationError, match="no other disk has"):
        Catalogue.model_validate(document)
