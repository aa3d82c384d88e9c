"""The genomics pipeline on machines that do not have this one's files: hosts over SSH, containers there, and
guests. GATK and the variant store's loader run on each worker, and what they computed is right.

The hosts are namespaces (`tests.hosts`); guests are emulated where there is no KVM.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from density_study.cluster.providers.libvirt.provider import LibvirtProvider
from density_study.cluster.providers.provider import software_of
from density_study.jobs.first_look.look import first_look
from density_study.workloads.execution.run import Run
from density_study.workloads.pipeline.machine.files import ALIGN, CALL, JOINT, LOAD
from density_study.workloads.pipeline.output.answers import parse_answers
from density_study.workloads.pipeline.output.stages import StageUse, parse_stages
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from tests.live.support.guest_study import HOSTS, carried_out, daemon_for, open_guests
from tests.live.support.libvirtd import Libvirtd
from tests.live.support.measured import measured
from tests.live.support.over_ssh import controlling, lab, left_on, physical_spec

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root makes network namespaces")
PIPELINE = """
workloads:
  - pipeline: {bases: [60_000], coverage: 15, genomes: GENOMES, caller: gatk, variant_load: true}
repetitions: 1
seed: 7
"""
PHYSICAL = """
study: live-physical-genomes
provider: physical
hosts:
HOSTS
ssh: {user: study, known_hosts: KNOWN_HOSTS}
stack: {base_port: 27900}
factors: {vms_per_host: [0]}
"""
GUESTS = """
factors: {vms_per_host: [1]}
monitor: {tool: dool, period: 1 s}
"""


def check(run: Run, manifest: Manifest, workers: tuple[str, ...]) -> Mapping[str, StageUse]:
    """By genome and stage: rows of the last worker."""
    assert (manifest.state, manifest.reasons) == ("complete", ())
    raw = run.records / manifest.trial / "raw"
    for node in workers:
        file = raw / f"pipeline-{node}.csv"
        rows = parse_stages(file.read_bytes(), file.name).rows
        assert {row.exit_code for row in rows} == {0}
        assert {ALIGN, CALL, JOINT, LOAD} == {row.stage for row in rows} - {"sort-markdup"}
        by_gatk = [row for row in rows if row.stage == CALL]
        assert len(by_gatk) == 2 and all(row.peak_kib > 200_000 for row in by_gatk), "a JVM"
        found = raw / f"pipeline-{node}-answers.csv"
        answers = parse_answers(found.read_bytes(), found.name).rows
        (stored,) = (one for one in answers if one.stage == LOAD)
        assert stored.planted == stored.called == stored.found > 100
    return {f"{row.genome} {row.stage}": row for row in rows}


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_on_hosts_over_ssh(tmp_path: Path) -> None:
    with lab(tmp_path, ["m1", "h1", "h2"]) as hosts:
        text = PHYSICAL + PIPELINE.replace("GENOMES", "4")
        spec = physical_spec(hosts, text, tmp_path / "genomes.yaml")
        with controlling(hosts, tmp_path):
            with measured(spec, tmp_path / "runs") as (run, manifests):
                (manifest,) = manifests.values()
                check(run, manifest, ("w1", "w2"))
                assert manifest.isolation == "host"
                for client in manifest.clients:
                    ours = [word for word in client.argv if "/stacks/" in word]
                    assert ours and all("/var/tmp/density-study-study/" in one for one in ours)
                machine = software_of(manifest.topology)
                assert manifest.disclosure["stacks"]["java"] == machine.java().version
                assert machine.refusal(["-XX:+NoSuchFlagAtAll"]).startswith("Java ")
                assert machine.refusal(["-Xmx64m"]) == ""
                looked = first_look(run.records / manifest.trial)
                assert looked.verdict == "valid", looked
            left = [one for name in hosts.names for one in left_on(hosts, name)]
    assert left == []


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Libvirtd]:
    folder = tmp_path_factory.mktemp("guests")
    with daemon_for(folder, more=("gatk",)) as running:
        yield running


@pytest.mark.vm
@pytest.mark.timeout(3600)
def test_in_guests(daemon: Libvirtd) -> None:
    text = HOSTS + GUESTS + PIPELINE.replace("GENOMES", "2")
    run = carried_out(open_guests(daemon.folder.parent, daemon, text))
    (manifest,) = closed_records(run.records).values()
    check(run, manifest, ("w1",))
    assert manifest.isolation == "vm"
    image = software_of(manifest.topology).java().version
    assert manifest.disclosure["stacks"]["java"] == image and image.startswith("17.")
    for build in run.plan.builds:
        assert not LibvirtProvider().leftovers(run.site(build), run.journal)
