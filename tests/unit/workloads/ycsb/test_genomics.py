"""The variant store in a study: YCSB test cases with their own mixes, table and properties."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from density_study.analysis.summarise.analysed_run import labels
from density_study.cluster.model.errors import InputError
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study, read_study
from density_study.workloads.ycsb.properties import client_arguments, operations_at_most, table_of
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.drafts import QUICKSTART, draft, host
from tests.support.made_runs.fake_ycsb import World, world

__all__ = ["world"]  # a fixture

STUDIES = Path("workloads/studies")
ENTRY = """  - genomics:
      samples: [30, 60]
      sites: 2000
      mixes: [variant-load, region-scan, sample-read, cohort-query]
      threads: [4, 8]
      latency_at: [50%, 200/s]
      duration: 20 s
      warm_up: 5 s
"""


def study(entry: str = ENTRY) -> Study:
    text = QUICKSTART.read_text()
    begin, end = text.index("  - ycsb:"), text.index("monitor:")
    return parse_study(text[:begin] + entry + text[end:], "g.yaml").study


def cases(entry: str = ENTRY) -> dict[str, YcsbTestCase]:
    return {
        test_case.id: test_case
        for test_case in study(entry).test_cases()
        if isinstance(test_case, YcsbTestCase)
    }


def properties(test_case: YcsbTestCase, number: int = 1) -> dict[str, str]:
    words = client_arguments(test_case, "raw/ycsb-1-", number)
    return dict(pair.split("=", 1) for flag, pair in pairwise(words) if flag == "-p")


def test_a_sweep_over_samples_threads_and_mixes_with_latency_at_the_most_threads() -> None:
    by_id = cases()
    assert len(by_id) == 2 * 2 * 4 + 2 * 3 * 2
    assert "genomics-region-scan-s60x2000-t8-at50pct" in by_id
    assert "genomics-variant-load-s30x2000-t4" in by_id
    assert not any("variant-load" in name and "-at" in name for name in by_id)


def test_records_are_the_rows_of_all_samples() -> None:
    scan = cases()["genomics-region-scan-s60x2000-t8"]
    assert scan.records == 120_000
    assert scan.max_scan_length == 20 * 20 * 60
    assert scan.data_mib == pytest.approx(120_000 * 80 / 2**20)


def test_client_properties_describe_the_store() -> None:
    client = properties(cases()["genomics-cohort-query-s30x2000-t4"])
    assert client["workload"] == "org.densitystudy.variants.VariantWorkload"
    assert client["recordcount"] == "60000"
    assert client["variants.samples"] == "30" and client["variants.sites"] == "2000"
    assert client["variants.seed"] == "20130226" and client["variants.region.sites"] == "20"
    assert (client["scanproportion"], client["readproportion"]) == ("0.2", "0.8")
    assert client["table"] == "variants_30_2000_20130226"


def test_a_load_is_one_trial_shared_by_its_clients() -> None:
    load = cases(ENTRY + "      clients: 3\n")["genomics-variant-load-s30x2000-t4-c3"]
    assert "-load" in client_arguments(load, "x") and load.is_load and not load.is_saturation
    assert operations_at_most(load) == 60_000
    shares = [properties(load, number) for number in (1, 2, 3)]
    assert [share["insertstart"] for share in shares] == ["0", "20000", "40000"]
    assert {share["workload"] for share in shares} == {properties(load)["workload"]}


def test_clients_of_a_run_draw_different_queries() -> None:
    read = cases(ENTRY + "      clients: 2\n")["genomics-sample-read-s30x2000-t4-c2"]
    assert [properties(read, number)["client.number"] for number in (1, 2)] == ["0", "1"]
    assert properties(read)["workload"].endswith("VariantWorkload")


def test_a_closed_loop_client_includes_the_time_between_operations() -> None:
    by_id = cases()
    closed = client_arguments(by_id["genomics-region-scan-s30x2000-t8"], "x")
    assert closed[1].endswith("ThinkTimed")
    assert "think.timed.db=org.densitystudy.ycsb.HBaseClient" in closed
    load, at_a_rate = "variant-load-s30x2000-t8", "region-scan-s30x2000-t8-at200ps"
    assert client_arguments(by_id[f"genomics-{load}"], "x")[1].endswith("ThinkTimed")
    assert client_arguments(by_id[f"genomics-{at_a_rate}"], "x")[1].endswith("HBaseClient")


def test_a_load_precedes_only_the_queries_on_its_rows() -> None:
    by_id = cases()
    load = by_id["genomics-variant-load-s30x2000-t4"]
    assert load.writes_for(by_id["genomics-region-scan-s30x2000-t8"])
    assert not load.writes_for(by_id["genomics-region-scan-s60x2000-t8"])
    plain = YcsbTestCase(mix="c", records=60_000, threads=4, duration_s=20.0)
    assert not load.writes_for(plain)  # as many rows, in another table
    assert table_of(plain) != table_of(load)


def test_a_percentage_refers_to_its_own_mix_and_store() -> None:
    by_id = cases()
    latency = by_id["genomics-region-scan-s60x2000-t8-at50pct"]
    assert by_id["genomics-region-scan-s60x2000-t4"].measures_for(latency)
    assert not by_id["genomics-sample-read-s60x2000-t4"].measures_for(latency)
    assert not by_id["genomics-region-scan-s30x2000-t4"].measures_for(latency)


def test_its_table_is_split_by_its_row_distribution(world: World) -> None:
    by_id = cases()
    world.run(by_id["genomics-variant-load-s30x2000-t4"])
    create = [verb for verb in world.every_verb if verb[0] == "create"]
    assert len(create) == 2  # before the warm-up, and after it
    assert all(call[call.index("--variants") + 1] == "30,2000,20130226" for call in create)
    assert world.run(by_id["genomics-region-scan-s30x2000-t4"])[:2] == [
        "flush-compact-settle",
        "snapshot",
    ]


def test_an_unmeasured_load_writes_the_stores_own_rows(world: World) -> None:
    acts = world.run(cases()["genomics-region-scan-s30x2000-t4"])
    assert acts == ["balancer", "create", "ycsb-1", "flush-compact-settle", "snapshot",
                    "restore", "warm-up-region-scan-1", "restore", "WINDOW"]  # fmt: skip
    loads = [words for words in world.commands if "-load" in words]
    assert loads and all(any("VariantWorkload" in word for word in words) for words in loads)


def test_a_manifest_includes_its_store() -> None:
    scan = cases()["genomics-region-scan-s30x2000-t8"]
    manifest = draft("t").model_copy(update={"test_case": scan}).model_dump_json()
    assert Manifest.model_validate_json(manifest).test_case == scan


def test_labels_show_samples_and_sites() -> None:
    names = labels(cases())
    assert names["genomics-region-scan-s30x2000-t4"] == (
        "YCSB variant store, region scan, 30 samples at 2,000 sites, 4 threads"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    (
        ("sites: 2000", "sites: 23", "sites"),
        ("mixes: [variant-load,", "mixes: [load,", "mixes"),
        ("samples: [30, 60]", "samples: [1_000_000]", "samples"),
        ("sites: 2000", "sites: 100_000_000", "rows"),
        ("warm_up: 5 s", "warm_up: 20 s", "leaves nothing of the duration"),
        ("threads: [4, 8]", "threads: [4, 8]\n      request_distribution: latest", "request_dist"),
        ("threads: [4, 8]", "threads: [4, 8]\n      records: [5]", "records"),
    ),
)
def test_invalid_values_are_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        study(ENTRY.replace(old, new))
    assert message in str(caught.value)


def test_the_store_is_specified_once() -> None:
    with pytest.raises(InputError, match="duplicate workload 'genomics'"):
        study(ENTRY + ENTRY)


def test_plain_ycsb_has_no_variants() -> None:
    text = QUICKSTART.read_text().replace("mixes: [load,", "mixes: [load, region-scan,")
    with pytest.raises(InputError, match="mixes"):
        parse_study(text, "q.yaml")


@pytest.mark.parametrize(("name", "minutes"), [("genomics", 31), ("density-curve", 60)])
def test_the_included_studies_are_short(name: str, minutes: float) -> None:
    plan = make_plan(read_study(STUDIES / f"{name}.yaml").study, [host(memory_mib=12288)])
    assert sum(step.estimate_s for step in plan.steps) < minutes * 60
