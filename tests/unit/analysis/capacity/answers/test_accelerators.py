"""Stages on GPUs and FPGAs: hours per genome, the hosts that have them, and the files of other programs."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from density_study.analysis.capacity.inputs.catalogue import EXAMPLE, Catalogue
from density_study.analysis.capacity.inputs.profile import Stage, read_profile
from density_study.analysis.capacity.inputs.question import question
from density_study.analysis.capacity.plan.plan import Plan
from density_study.analysis.capacity.sizing.candidates import Search
from density_study.analysis.capacity.sizing.size import size
from density_study.dags.cli.capacity.inputs import Format
from density_study.dags.cli.capacity.plan_text import plan_text
from tests.unit.analysis.capacity.planning import DRAWS, catalogue, model

ACCELERATED = Catalogue.read(EXAMPLE.parent / "accelerated.yaml")


def planned(profile: str, hosts: Catalogue = ACCELERATED) -> Plan:
    found = size(question(40, (), draws=DRAWS), model(), read_profile(profile), hosts)
    assert isinstance(found, Plan), found
    return found


@pytest.mark.parametrize(("profile", "host"), [("wgs30x-gpu", "gpu"), ("wgs30x-fpga", "fpga")])
def test_only_hosts_with_the_accelerator_are_planned_and_the_others_are_named(
    profile: str, host: str
) -> None:
    found = planned(profile)
    assert found.host_type == host
    (other,) = {"gpu", "fpga"} - {host}
    assert any(f"on {other}" in text and "are needed" in text for text in found.left_out)


def test_the_hosts_that_a_stage_keeps_busy_are_its_hours_over_the_accelerators() -> None:
    """100 genomes a day of 3.2 hours are 320 accelerator-hours; four in a host have 96 a day."""
    wanted = question(100, (), draws=1000)
    profile = read_profile("wgs30x-gpu")
    search = Search.of(wanted, model(), profile, ACCELERATED)
    one = next(c for c in search.candidates() if c.host.name == "gpu" and c.vms_per_host == 1)
    busy = float(np.median(one.slots.hosts_busy(profile.stages[0])))
    assert busy == pytest.approx(100 * 3.2 / (4 * 24) * 1.3 / 0.97, rel=0.06)
    assert float(np.median(one.slots.task_s(profile.stages[0]))) == pytest.approx(
        1.6 * 3600, rel=0.03
    )


def test_vms_share_whole_accelerators() -> None:
    """Of four GPUs, two VMs have two each, which is a task's need; of three VMs, none has."""
    search = Search.of(
        question(40, (), draws=DRAWS), model(), read_profile("wgs30x-gpu"), ACCELERATED
    )
    densities = {one.vms_per_host for one in search.candidates()}
    assert densities == {1, 2}
    assert any("3 VMs per host on gpu: 2 A100" in text for text in search.refused)


def test_hosts_without_accelerators_are_no_candidates() -> None:
    found = size(question(40, (), draws=DRAWS), model(), read_profile("wgs30x-gpu"), catalogue())
    assert not isinstance(found, Plan)
    assert any("a VM has 0" in text for text in found.reasons)


def test_a_stage_has_core_hours_or_an_accelerator() -> None:
    value = {"value": 1, "low": 1, "high": 1, "tag": "assumed", "source": "test"}
    with pytest.raises(ValidationError, match="make it two stages"):
        Stage.model_validate(
            {"name": "both", "core_hours": value, "accelerator": {"kind": "A100", "hours": value}}
        )


def test_other_programs_are_told_of_the_accelerators() -> None:
    profile = read_profile("wgs30x-gpu")
    found = planned("wgs30x-gpu")
    config = plan_text(found, profile, ACCELERATED, Format.nextflow_config)
    assert "accelerator = [request: 2, type: 'A100']" in config
    count = 4 // max(1, found.vms_per_host)
    assert f"Gres=gpu:A100:{count}" in plan_text(found, profile, ACCELERATED, Format.slurm)
