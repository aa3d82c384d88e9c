"""A cluster whose daemons say that they are a vendor's: tried by `doctor --deep`, measured to a report, at
its limits' pace, and left alone as soon as others are disturbed."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.bring_up import NO_NATIVE
from tests.live.support.command import study
from tests.live.support.foreign import FOLDER
from tests.live.support.vendor import HADOOP_SAYS, HBASE_SAYS, VendorCluster, vendor_cluster

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(900)]
STUDY = """
study: live-vendor
provider: existing
existing: {CLIENT configuration: CONF, folder: FOLDER, limits: {LIMITS},
           table: {compression: gz, bloom: none}}
workloads:
  - testdfsio: {modes: [write], files: 2, file_size: 8 MiB}
  - ycsb: {records: [2_000], mixes: [load, read45-insert55], threads: [2], duration: 15 s, warm_up: 2 s,
           warm_up_client: off, warm_up_daemons: off}
"""
PACED_OPS_S = 200


@pytest.fixture(scope="module")
def vendor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VendorCluster]:
    with vendor_cluster(tmp_path_factory.mktemp("vendor")) as cluster:
        yield cluster


def spec_of(vendor: VendorCluster, folder: Path, limits: str, client: str = "") -> Path:
    spec = folder / "vendor.yaml"
    text = STUDY.replace("CONF", str(vendor.conf)).replace("FOLDER", FOLDER)
    spec.write_text(text.replace("LIMITS", limits).replace("CLIENT", client))
    return spec


def test_a_vendors_cluster_is_measured_at_the_pace_of_its_limits(
    vendor: VendorCluster, tmp_path: Path
) -> None:
    """By the vendor's own client and its native libraries."""
    runs, before = tmp_path / "runs", vendor.canaries()
    added = study("stack", "add", "hadoop", str(vendor.parcel()), runs=runs)
    named = re.fullmatch(
        r"write in a study: existing: {(tarball: \w+, native: \w+)}", added.stdout.strip()
    )
    assert named, added.stdout + added.stderr
    spec = spec_of(vendor, tmp_path, f"rate: {PACED_OPS_S}/s", f"{named[1]},")
    ended = study("run", str(spec), "--runs", str(runs), runs=runs)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (run,) = runs.glob("live-vendor/2*")
    summary = json.loads((run / "report" / "summary.json").read_text())
    found = summary["disclosure"]["existing"]
    assert (found["hadoop"], found["hbase"]) == (HADOOP_SAYS, HBASE_SAYS)
    assert found["hadoop_client"] == HADOOP_SAYS and found["hbase_client"] != HBASE_SAYS
    clients = [file.read_text() for file in run.glob("records/*write-n2*/raw/*.err")]
    assert clients and not any(NO_NATIVE in text for text in clients)
    record = json.loads(next(run.glob("records/*/manifest.json")).read_text())
    assert record["disclosure"]["checknative"]["hadoop"].endswith("/lib/libhadoop.so")
    verdicts = {trial["test_case"]: trial["verdict"] for trial in summary["trials"]}
    assert verdicts == {
        "testdfsio-write-n2": "valid", "ycsb-load-r2000-t2-at200ps": "valid",
        "ycsb-read45-insert55-r2000-t2-at200ps": "valid",
    }  # fmt: skip
    created = next(run.glob("records/*load*/logs/table-before.out")).read_text()
    assert "COMPRESSION => 'GZ'" in created and "BLOOMFILTER => 'NONE'" in created
    assert vendor.left_of_studies() == [] and vendor.canaries() == before


def test_a_trial_stops_when_others_are_slower_than_the_limit(
    vendor: VendorCluster, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    spec = spec_of(vendor, tmp_path, "rate: off, others_p99: 0.001 ms")
    others = vendor.read_canary(300, 50)
    try:
        ended = study("run", str(spec), "--runs", str(runs), "--only", "ycsb-read*", runs=runs)
    finally:
        others.kill()
        others.wait()
    assert ended.returncode != 0
    said = " ".join((ended.stdout + ended.stderr).split())
    assert "stopped, so that others are not disturbed: default:canary get" in said
    assert vendor.left_of_studies() == []


def test_a_deep_look_tries_each_step_and_names_the_missing_right(
    vendor: VendorCluster, tmp_path: Path
) -> None:
    runs, before = tmp_path / "runs", vendor.canaries()
    spec = spec_of(vendor, tmp_path, "rate: off")
    looked = study("doctor", str(spec), "--runs", str(runs), "--deep", runs=runs)
    assert looked.returncode == 0, looked.stdout + looked.stderr
    for words in ("one map writes 1 MiB", "create a table", "make a snapshot", "nothing is left"):
        assert words in " ".join(looked.stdout.split())
    assert vendor.canaries() == before
    assert {one.name for one in runs.iterdir()} <= {".runtime"}  # of the test itself
    assert vendor.left_of_studies() == []


def test_a_deep_look_names_what_only_a_job_meets(vendor: VendorCluster, tmp_path: Path) -> None:
    """The client configuration asks for a larger ApplicationMaster than YARN allows."""
    runs, conf = tmp_path / "runs", tmp_path / "conf"
    shutil.copytree(vendor.conf, conf)
    mapred = conf / "mapred-site.xml"
    mapred.write_text(mapred.read_text().replace("<value>384</value>", "<value>9999</value>"))
    spec = spec_of(vendor, tmp_path, "rate: off")
    spec.write_text(spec.read_text().replace(str(vendor.conf), str(conf)))
    looked = study("doctor", str(spec), "--runs", str(runs), "--deep", runs=runs)
    said = " ".join(looked.stdout.split())
    assert looked.returncode == 1, said
    assert "fault one map writes 1 MiB" in said and "YARN allows" in said, said
    assert "ok create a table" in said and "ok nothing is left" in said, said
    assert vendor.left_of_studies() == []
