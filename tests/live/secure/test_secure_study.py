"""Provider `existing` on a cluster with Kerberos and TLS: measured, killed, and no secret told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.workloads import tables
from density_study.workloads.tables.store import read_table
from tests.live.secure.kdc import REALM
from tests.live.secure.leaks import files, keys, leaks, watching
from tests.live.secure.secure import CLIENT, SecureCluster, secure_cluster
from tests.live.support.command import study, study_run, wait_for
from tests.live.support.foreign import FOLDER

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(1200)]

STUDY = """
study: live-secure
question: What does this cluster do?
provider: existing
existing: {configuration: CONF, folder: FOLDER, kerberos: {LOGIN, krb5_conf: KRB5}, limits: {rate: off}}
monitor: {also: [jmx]}
workloads:
  - testdfsio: {modes: [write, read], files: 2, file_size: 32 MiB}
  - ycsb: {records: [5_000], mixes: [load, c], threads: [2], duration: 6 s, warm_up: 2 s,
           warm_up_client: off, warm_up_daemons: off}
"""


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureCluster]:
    with secure_cluster(tmp_path_factory.mktemp("secure")) as cluster:
        yield cluster


def spec_of(secure: SecureCluster, folder: Path, login: str) -> Path:
    text = STUDY
    for name, value in (
        ("CONF", secure.conf), ("FOLDER", FOLDER), ("LOGIN", login), ("KRB5", secure.realm.krb5_conf)
    ):  # fmt: skip
        text = text.replace(name, str(value))
    spec = folder / "secure.yaml"
    spec.write_text(text)
    return spec


def by_keytab(secure: SecureCluster) -> str:
    return f"principal: {CLIENT}, keytab: {secure.keytab}"


def test_a_study_by_keytab_measures_and_tells_no_secret(
    secure: SecureCluster, tmp_path: Path
) -> None:
    before, runs = secure.canaries(), tmp_path / "runs"
    spec = spec_of(secure, tmp_path, by_keytab(secure))
    with watching(secure.root / "tmp", runs / ".runtime") as watch:
        ended = study("run", str(spec), "--runs", str(runs), runs=runs)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (run,) = runs.glob("live-secure/2*")
    summary = json.loads((run / "report" / "summary.json").read_text())
    trials = {trial["test_case"]: trial for trial in summary["trials"]}
    assert sorted(trials) == [
        "testdfsio-read-n2", "testdfsio-write-n2", "ycsb-c-r5000-t2", "ycsb-load-r5000-t2",
    ]  # fmt: skip
    assert all(trial["state"] == "complete" for trial in trials.values()), trials
    given = summary["disclosure"]["existing"]
    assert given["security"] == {
        "authentication": "kerberos",
        "hadoop.rpc.protection": "privacy",
        "dfs.data.transfer.protection": "integrity",
        "hbase.rpc.protection": "privacy",
    }
    assert secure.left_of_studies() == [] and secure.canaries() == before
    sampled = read_table(run, tables.DEVICE_SERIES)
    daemons = {f"localhost/{name}" for name in ("namenode", "datanode", "regionserver")}
    assert daemons == set(sampled[sampled["device"] == "jmx"]["source"])

    passwords = {name: text.encode() for name, text in secure.passwords.items()}
    secrets = {**passwords, **keys(secure.keytab), **watch.tokens, **watch.tickets}
    assert watch.tokens and watch.tickets and len(watch.argv) > 20
    said = (("output", f"{ended.stdout}{ended.stderr}".encode()),)
    argv = ((str(words), words) for words in watch.argv)
    assert leaks(secrets, (*files(runs), *said, *argv)) == []
    assert leaks({"token in a URL": b"delegation=", "SPNEGO": b"Negotiate YI"}, files(runs)) == []
    # the search finds what is there
    own = leaks(secrets, files(secure.conf, secure.kerberos, secure.keytab.parent))
    assert {name.partition(" in ")[0] for name in own} >= {
        "trust-store",
        "key-store",
        "signature",
        "key 0",
    }


def test_kill_9_of_a_study_by_ticket_leaves_nothing_after_reap(
    secure: SecureCluster, tmp_path: Path
) -> None:
    before, runs, cache = secure.canaries(), tmp_path / "runs", tmp_path / "cache"
    secure.realm.kinit_by(secure.keytab, CLIENT, cache)
    spec = spec_of(secure, tmp_path, f"ticket_cache: {cache}")
    _killed(secure, spec, runs)
    assert cache.exists()
    assert secure.left_of_studies() == [] and secure.canaries() == before


def test_kill_9_of_a_study_by_keytab_leaves_no_ticket_after_reap(
    secure: SecureCluster, tmp_path: Path
) -> None:
    before, runs = secure.canaries(), tmp_path / "runs"
    _killed(secure, spec_of(secure, tmp_path, by_keytab(secure)), runs)
    assert secure.left_of_studies() == [] and secure.canaries() == before
    assert list((runs / ".runtime").rglob("krb5cc*")) == []


def _killed(secure: SecureCluster, spec: Path, runs: Path) -> None:
    with study_run(runs, spec=spec) as child:
        wait_for(runs, lambda entry: entry.get("state") == "running", 300)
        child.kill()
        child.wait()
        assert len(secure.left_of_studies()) >= 2
        reaped = study("reap", "--runs", str(runs), runs=runs)
    assert reaped.returncode == 0, reaped.stdout + reaped.stderr


def test_a_login_that_is_wrong_is_one_error_before_anything_starts(
    secure: SecureCluster, tmp_path: Path
) -> None:
    runs, cache = tmp_path / "runs", tmp_path / "cache"
    secure.realm.kinit_by(secure.keytab, CLIENT, cache, "-l", "1m")
    for login, said in (
        (f"ticket_cache: {cache}", f"the ticket of {CLIENT} ends at"),
        (f"ticket_cache: {tmp_path}/none", "there is no Kerberos ticket."),
        (f"principal: nobody@{REALM}, keytab: {secure.keytab}", "has no key of it."),
    ):
        ended = study("run", str(spec_of(secure, tmp_path, login)), "--runs", str(runs), runs=runs)
        text = " ".join((ended.stdout + ended.stderr).split())
        assert ended.returncode == 2 and said in text, text
        assert text.count("fault ") == text.count("error: ") == 1, (
            text
        )  # in the checklist, and as the end
    assert secure.left_of_studies() == [] and list(runs.glob("live-secure/2*")) == []
