"""Provider `existing` on a cluster that others built: measured, killed, and everything foreign untouched."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from density_study.workloads.record.record import closed_records
from density_study.workloads.record.recorded import RecordedTopology
from tests.live.support.command import study, study_run, wait_for
from tests.live.support.foreign import (
    FOLDER,
    NAMESPACE,
    SECOND,
    USER,
    ForeignCluster,
    foreign_cluster,
)

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(900)]
OTHERS_OPS_S = 50

STUDY = """
study: live-given
question: What does this cluster do?
provider: existing
existing: {configuration: CONF, folder: FOLDER, limits: {rate: off}}
workloads:
  - testdfsio: {modes: [write, read], files: 2, file_size: 32 MiB}
  - ycsb: {records: [5_000], mixes: [load, read45-insert55], threads: [2], duration: 6 s, warm_up: 2 s,
           warm_up_client: off, warm_up_daemons: off}
"""


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForeignCluster]:
    with foreign_cluster(tmp_path_factory.mktemp("foreign")) as cluster:
        yield cluster


def spec_of(foreign: ForeignCluster, folder: Path, hdfs_folder: str = FOLDER) -> Path:
    spec = folder / "given.yaml"
    spec.write_text(STUDY.replace("CONF", str(foreign.conf)).replace("FOLDER", hdfs_folder))
    return spec


def summary_of(run: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((run / "report" / "summary.json").read_text())
    return value


def test_a_study_measures_what_it_can_see_and_touches_nothing_else(
    foreign: ForeignCluster, tmp_path: Path
) -> None:
    before = foreign.canaries()
    others = foreign.read_canary(300, OTHERS_OPS_S)
    try:
        ended = study("run", str(spec_of(foreign, tmp_path)), "--runs", str(tmp_path / "runs"),
                      runs=tmp_path / "runs")  # fmt: skip
    finally:
        others.kill()
        others.wait()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (run,) = (tmp_path / "runs").glob("live-given/2*")
    trials = {trial["test_case"]: trial for trial in summary_of(run)["trials"]}
    verdicts = {test_case: trial["verdict"] for test_case, trial in trials.items()}
    # a read may be served from page caches, which nobody sees
    assert verdicts == {
        "testdfsio-write-n2": "valid", "testdfsio-read-n2": "unknown",
        "ycsb-load-r5000-t2": "valid", "ycsb-read45-insert55-r5000-t2": "valid",
    }  # fmt: skip
    for trial in trials.values():
        reasons = "; ".join(trial["reasons"])
        assert "the CPU use of the cluster's hosts is unknown" in reasons
        assert "others: tables outside the study got" in reasons
        assert (trial["vms_per_host"], trial["disk_type"]) == (None, "unknown")
    records = closed_records(run / "records").values()
    assert all(isinstance(record.topology, RecordedTopology) for record in records)
    rates = [r.others.hbase_requests / r.others.seconds for r in records
             if r.others and r.others.hbase_requests]  # fmt: skip
    assert len(rates) == 4 and all(0.8 < rate / OTHERS_OPS_S < 1.2 for rate in rates), rates
    assert foreign.left_of_studies() == []
    assert foreign.canaries() == before


SECRETS = (
    "fs.azure.account.oauth2.client.secret.a.dfs.core.windows.net", "fs.azure.sas.c.a.blob.core.windows.net",
    "fs.s3a.secret.key", "fs.s3a.session.token", "fs.gs.auth.service.account.private.key",
    "fs.obs.secret.key", "fs.cosn.userinfo.secretKey", "javax.jdo.option.ConnectionPassword",
    "ssl.server.keystore.password", "dfs.namenode.keytab.file",
)  # fmt: skip
PLANTED = "hunter2-"


def with_secrets(conf: Path, folder: Path) -> Path:
    """A copy of the configuration of a client, with a secret of each kind in its core-site.xml."""
    shutil.copytree(conf, folder)
    path = folder / "core-site.xml"
    more = "".join(
        f"<property><name>{name}</name><value>{PLANTED}{number}</value></property>"
        for number, name in enumerate(SECRETS)
    )
    path.write_text(
        path.read_text().replace("</configuration>", f"<!-- {PLANTED} -->{more}</configuration>")
    )
    return folder


def test_no_output_has_a_secret_of_the_configuration(
    foreign: ForeignCluster, tmp_path: Path
) -> None:
    """Of the run, its report, its exports, its messages, and what of it goes to a terminal."""
    conf, runs = with_secrets(foreign.conf, tmp_path / "conf"), tmp_path / "runs"
    spec = tmp_path / "given.yaml"
    spec.write_text(STUDY.replace("CONF", str(conf)).replace("FOLDER", FOLDER))
    ended = study("run", str(spec), "--runs", str(runs), runs=runs)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (run,) = runs.glob("live-given/2*")
    printed = [ended]
    for words in (
        ("doctor", str(spec)),
        *(("report", str(run), "--format", form) for form in ("json", "markdown", "csv")),
        ("export", str(run), "--to", str(tmp_path / "exported")),
        ("export", str(run), "--to", str(tmp_path / "exported.duckdb")),
        ("status", str(run), "--json"),
        ("list", "--json"),
    ):
        printed.append(study(*words, "--runs", str(runs), runs=runs) if words[0] in ("doctor", "list")
                       else study(*words, runs=runs))  # fmt: skip
    assert not [one.args for one in printed if PLANTED in one.stdout + one.stderr]
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and conf not in path.parents]
    assert len(kept) > 50
    assert [path for path in kept if PLANTED.encode() in path.read_bytes()] == []


def test_kill_9_leaves_nothing_after_reap(foreign: ForeignCluster, tmp_path: Path) -> None:
    before, runs = foreign.canaries(), tmp_path / "runs"
    with study_run(runs, spec=spec_of(foreign, tmp_path)) as child:
        wait_for(runs, lambda entry: entry.get("state") == "running", 200)
        child.kill()
        child.wait()
        left = foreign.left_of_studies()
        dry = study("reap", "--dry-run", "--runs", str(runs), runs=runs)
        assert "HDFS folder" in dry.stdout and "HBase namespace" in dry.stdout, dry.stdout
        reaped = study("reap", "--runs", str(runs), runs=runs)
    assert len(left) >= 2, left
    assert reaped.returncode == 0, reaped.stdout + reaped.stderr
    assert foreign.left_of_studies() == []
    assert foreign.canaries() == before


def test_a_folder_that_is_not_ours_to_make_is_refused_before_anything_starts(
    foreign: ForeignCluster, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    for folder, said in (
        ("/canary/density-study", "Permission denied"),
        (f"/user/{USER}", "exists already"),
        ("/nowhere/density-study", "/nowhere does not exist"),
    ):
        ended = study(
            "run", str(spec_of(foreign, tmp_path, folder)), "--runs", str(runs), runs=runs
        )
        assert ended.returncode != 0 and said in ended.stdout + ended.stderr, ended.stdout
    assert foreign.left_of_studies() == []


def test_quotas_that_leave_too_little_or_would_be_lost_are_refused_before_anything_is_written(
    foreign: ForeignCluster, tmp_path: Path
) -> None:
    runs, home = tmp_path / "runs", f"/user/{USER}"
    hdfs = {"op": "SETQUOTA"}
    for limit, lift, said in (
        (lambda: foreign.webhdfs("PUT", home, **hdfs, storagespacequota=str(2**20)),
         lambda: foreign.webhdfs("PUT", home, **hdfs, storagespacequota="-1"),
         f"HDFS {home}: its space quota leaves 1 MiB"),
        (lambda: foreign.webhdfs("PUT", home, **hdfs, namespacequota="50"),
         lambda: foreign.webhdfs("PUT", home, **hdfs, namespacequota="-1"),
         f"HDFS {home}: its quota leaves 49 files and folders"),
        (lambda: foreign.admin("quota", NAMESPACE, "20"),
         lambda: foreign.admin("quota", NAMESPACE, "0"),
         f"HBase namespace {NAMESPACE}: it has a quota"),
    ):  # fmt: skip
        limit()
        try:
            checked = study(
                "doctor", str(spec_of(foreign, tmp_path)), "--runs", str(runs), runs=runs
            )
        finally:
            lift()
        assert checked.returncode != 0 and said in " ".join(checked.stdout.split()), checked.stdout
    assert foreign.left_of_studies() == []


VARIANTS = """
study: live-variants
provider: existing
existing: {folder: FOLDER, limits: {rate: off}}
factors:
  cluster:
    one: {configuration: CONF, vms_per_host: 1, disk_type: flash}
    two: {configuration: CONF, vms_per_host: 2, disk_type: flash, namespace: SECOND}
workloads:
  - ycsb: {records: [5_000], mixes: [load], threads: [2], warm_up_client: off, warm_up_daemons: off}
"""


def variants_of(foreign: ForeignCluster, folder: Path) -> Path:
    spec = folder / "variants.yaml"
    spec.write_text(
        VARIANTS.replace("CONF", str(foreign.conf))
        .replace("FOLDER", FOLDER)
        .replace("SECOND", SECOND)
    )
    return spec


def test_existing_clusters_are_variants_and_each_is_left_as_it_was(
    foreign: ForeignCluster, tmp_path: Path
) -> None:
    """One cluster by two names: both are equal, so that nothing but the names can differ."""
    before, runs, spec = foreign.canaries(), tmp_path / "runs", variants_of(foreign, tmp_path)
    ended = study("run", str(spec), "--runs", str(runs), runs=runs)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (run,) = runs.glob("live-variants/2*")
    summary = summary_of(run)
    assert {trial["topology"] for trial in summary["trials"]} == {"existing-one", "existing-two"}
    assert {trial["verdict"] for trial in summary["trials"]} == {"valid"}
    found = {one["family"]: one for one in summary["findings"]}
    assert {"cluster-rate", "density-rate"} <= set(found)
    assert found["cluster-rate"]["variants"] == "two over one"
    assert found["cluster-rate"]["why"].startswith("1 repetition")  # comparable, but too few
    assert set(found["density-rate"]["declared"]) == {"cluster: one -> two", "vms_per_host: 1 -> 2"}
    assert "incomparable-builds" not in {warning["code"] for warning in summary["warnings"]}
    assert foreign.left_of_studies() == []
    assert foreign.canaries() == before


def test_kill_9_on_the_second_cluster_leaves_nothing_on_either(
    foreign: ForeignCluster, tmp_path: Path
) -> None:
    before, runs, measured = foreign.canaries(), tmp_path / "runs", set[str]()

    def on_the_second(entry: dict[str, object]) -> bool:
        if entry.get("state") == "running":
            measured.add(str(entry["trial"]).partition("-0")[0])
        return len(measured) == 2

    with study_run(runs, spec=variants_of(foreign, tmp_path)) as child:
        wait_for(runs, on_the_second, 300)
        child.kill()
        child.wait()
        left = foreign.left_of_studies()
        reaped = study("reap", "--runs", str(runs), runs=runs)
    assert measured == {"b1-existing-one", "b1-existing-two"} and left
    assert reaped.returncode == 0, reaped.stdout + reaped.stderr
    assert foreign.left_of_studies() == []
    assert foreign.canaries() == before
