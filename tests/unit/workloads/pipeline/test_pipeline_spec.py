"""What a study may say about a pipeline, the test cases it becomes, and where they can run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.pipeline.spec import PipelineSpec
from density_study.workloads.study.study_file import parse_study
from tests.support.drafts import plan
from tests.support.topologies import physical

STUDY = """
study: small
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]
factors: {vms_per_host: [1, 2]}
workloads: [{pipeline: {bases: [200_000, 1_000_000], genomes: 4, concurrent: [1, 2], min_recall: 85%}}]
"""


def spec(**keys: Any) -> PipelineSpec:
    return PipelineSpec.model_validate({"bases": [200_000], **keys})


def test_a_study_has_a_test_case_per_size_and_concurrency() -> None:
    test_cases = parse_study(STUDY, "here").study.test_cases()
    assert [test_case.id for test_case in test_cases] == [
        "pipeline-synthetic-b200000-x10-n4-c1-t1",
        "pipeline-synthetic-b200000-x10-n4-c2-t1",
        "pipeline-synthetic-b1000000-x10-n4-c1-t1",
        "pipeline-synthetic-b1000000-x10-n4-c2-t1",
    ]
    assert test_cases[3].label == "Genomics pipeline, 1 Mb at 10x, 2 at once"
    assert test_cases[0].model_dump()["min_recall_percent"] == 85.0
    assert test_cases[0].needs_of_workers == ("check-genomics",)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"bases": [1000]}, "greater than or equal to 50000"),
        ({"bases": []}, "at least 1 item"),
        ({"genomes": 1}, "joint genotyping needs 2 genomes"),
        ({"genomes": 4, "concurrent": [5]}, "5 at once exceed the 4 genomes"),
        ({"reference": "human"}, "synthetic"),
        ({"reference": "e-coli-536", "bases": [5_000_000]}, "exceed the 4,938,920 of"),
        ({"min_recall": 0.9}, "write, for example, 90%"),
        ({"variant_load": "hbase"}, "valid boolean"),
    ],
)
def test_what_cannot_be_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(**keys)


def test_e_coli_needs_its_package_on_every_worker() -> None:
    (test_case,) = spec(reference="e-coli-536").test_cases()
    assert test_case.needs_of_workers == ("check-genomics", "check-e-coli")


def test_worker_nodes_take_genomes_in_turn() -> None:
    topology = plan().topology_of("b1-v2-flash")
    (test_case,) = spec(genomes=5).test_cases()
    numbers = {node.name: taken for node, taken in test_case.numbers(topology)}
    assert numbers == {"w1": (1, 3, 5), "w2": (2, 4)}


def test_a_node_with_one_genome_is_refused() -> None:
    topology = plan().topology_of("b1-v2-flash")
    (test_case,) = spec(genomes=3).test_cases()
    with pytest.raises(InputError, match="3 genomes are too few for the 2 worker nodes"):
        test_case.check_topology(topology)
    spec(genomes=4).test_cases()[0].check_topology(topology)


def test_test_cases_of_one_size_share_reference_and_reads() -> None:
    one, two = spec(concurrent=[1, 2]).test_cases()
    assert one.data_set == two.data_set
    assert one.disk_use(3) == two.disk_use(3)  # on the node's own disk, without replicas


def test_gatk_is_in_a_test_cases_names_and_fetched_for_it_alone() -> None:
    (plain,) = spec().test_cases()
    assert (plain.gatk_stages, plain.needs_stacks) == ((), ())
    (both,) = spec(caller="gatk", duplicates="gatk").test_cases()
    assert both.id.endswith("-t1-gatk-sort-markdup-gatk-call")
    assert both.label.endswith(", GATK for sort-markdup and call")
    assert both.needs_stacks == ("gatk",)
    assert both.estimate_s > plain.estimate_s + 60
    assert (both.table_row()["caller"], plain.table_row()["duplicates"]) == ("gatk", "samtools")
    assert both.summary_fields()["unnamed_knobs"]["gatk_call"] == 1.0


@pytest.mark.parametrize("isolation", list(Isolation))
def test_gatk_runs_on_every_kind_of_node(isolation: Isolation) -> None:
    (called,) = spec(caller="gatk").test_cases()
    called.check_topology(replace(physical(), isolation=isolation))
