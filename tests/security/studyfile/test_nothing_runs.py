"""`study plan`, `study doctor` and Airflow's parser run, write and import nothing that a file names."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path as File

import pytest
import yaml
from rich.console import Console

from density_study.cluster.model.access import OPEN
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.existing import Kerberos
from density_study.cluster.providers.existing import tables
from density_study.cluster.providers.existing.configuration import read_configuration
from density_study.cluster.providers.existing.tickets import krb5_conf_of
from density_study.dags.cli import main
from density_study.dags.graph.catalogue import read_outline
from density_study.workloads.execution.examination import examine
from tests.security.studyfile.documents import ENDPOINT, EXISTING, LIBVIRT, LOCAL, Path, changed
from tests.support.hostile.watcher import watching

ONE_SHOT = "touch CANARY"
CONFIGURATION: Path = ("factors", "configuration", "more")
NOTIFY: Path = ("notify", 2)
EVIL: dict[str, tuple[object, Path, object]] = {
    "uri": (
        LIBVIRT,
        ("hosts", 0, "libvirt"),
        "qemu+ssh://u@h/system?command=CANARY.sh&no_verify=1",
    ),
    "socket": (LIBVIRT, ("hosts", 0, "libvirt"), "qemu:///system?socket=CANARY"),
    "address": (LIBVIRT, ("hosts", 0, "address"), f"-oProxyCommand={ONE_SHOT}"),
    "watched": (EXISTING, ("hosts", 0, "address"), f"-oProxyCommand={ONE_SHOT}"),
    "user": (LIBVIRT, ("ssh", "user"), f"-oProxyCommand={ONE_SHOT}"),
    "known_hosts": (LIBVIRT, ("ssh", "known_hosts"), f"-oProxyCommand={ONE_SHOT}"),
    "bridge": (LIBVIRT, ("vms", "bridge"), "--help"),
    "principal": (EXISTING, ("existing", "kerberos", "principal"), "-X@Y"),
    "queue": (EXISTING, ("existing", "queue"), "-Dx=y"),
    "endpoint": (ENDPOINT, ("existing", "endpoint", "addresses", 0), "-x:1"),
    "login": (ENDPOINT, ("existing", "endpoint", "user"), "-x"),
    "flag": (LOCAL, (*CONFIGURATION, "jvm", "regionserver", "flags", 0), f"-XX:OnError={ONE_SHOT}"),
    "agent": (LOCAL, (*CONFIGURATION, "jvm", "regionserver", "flags", 0), "-javaagent:CANARY.jar"),
    "log": (LOCAL, (*CONFIGURATION, "jvm", "regionserver", "flags", 0), "-Xlog:gc:CANARY"),
    "coprocessor": (
        LOCAL,
        (*CONFIGURATION, "hbase-site"),
        {"hbase.coprocessor.region.classes": "Evil"},
    ),
    "script": (LOCAL, CONFIGURATION, {"core-site": {"net.topology.script.file.name": "CANARY.sh"}}),
    "shell": (LOCAL, CONFIGURATION, {"mapred-site": {"mapreduce.map.env": f"X=$({ONE_SHOT})"}}),
    "template": (
        LOCAL,
        (*NOTIFY, "arguments", "text"),
        "{{ var.value.x }}{{ conn.prod.password }}",
    ),
    "loop": (LOCAL, (*NOTIFY, "arguments", "text"), "{% for i in range(9**9) %}{% endfor %}"),
    "file": (LOCAL, (*NOTIFY, "arguments"), {"files": ["/etc/shadow"]}),
    "version": (LOCAL, ("factors", "stack", 0, "hadoop"), "-DremoteRepositories=http://h"),
    "schedule": (LOCAL, ("schedule", "cron"), f"$({ONE_SHOT})"),
    "name": (LOCAL, ("study",), "../../CANARY"),
}


@pytest.fixture
def canaries(tmp_path: File, monkeypatch: pytest.MonkeyPatch) -> File:
    """Programs of these names leave a file if anything starts them."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in (
        "virsh",
        "ssh",
        "ssh-keygen",
        "curl",
        "kinit",
        "klist",
        "sh",
        "bash",
        "CANARY.sh",
        "mvn",
    ):
        (programs / name).write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/started\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path / "airflow"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(main, "out", Console(file=io.StringIO()))
    import croniter  # noqa: F401  # on import, it asks the command `file` for the size of a word

    return tmp_path


@pytest.mark.parametrize("name", EVIL)
def test_an_evil_study_is_refused_before_anything_happens(name: str, canaries: File) -> None:
    document, path, value = EVIL[name]
    spec = canaries / "evil.yaml"
    spec.write_text(yaml.safe_dump(changed(document, path, value)))
    with watching() as seen:
        with pytest.raises(InputError):
            main.plan(spec, canaries / "runs", None, None, 1.2)
        with pytest.raises(InputError):
            list(examine(spec, canaries / "runs", {}))
    assert not seen
    outline = read_outline(spec)
    assert outline.outline is None and "evil.yaml" in outline.fault
    assert not (canaries / "started").exists()
    assert not [found for found in canaries.rglob("*CANARY*") if found.parent.name != "bin"]


def test_a_notifier_is_not_imported_by_a_plan(
    canaries: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    (canaries / "evil_notifier.py").write_text("open('CANARY', 'w')\n")
    monkeypatch.syspath_prepend(canaries)
    spec = canaries / "evil.yaml"
    spec.write_text(yaml.safe_dump(changed(LOCAL, (*NOTIFY, "notifier"), "evil_notifier.Notifier")))
    assert read_outline(spec).fault == ""
    assert not (canaries / "CANARY").exists()


def test_a_folder_that_a_study_names_is_on_no_class_path(
    runtime: None, tmp_path: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runtime").mkdir(mode=0o700)
    given = tmp_path / "given"
    given.mkdir(mode=0o700)
    for site in ("core-site", "hbase-site"):
        (given / f"{site}.xml").write_text("<configuration/>")
    (given / "Evil.class").write_bytes(b"code")
    argv: list[str] = []
    found: list[str] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        argv.extend(command)
        conf = File(command[command.index("-cp") + 1].rpartition(":")[2])
        found.extend(sorted(path.name for path in conf.iterdir()))
        return subprocess.CompletedProcess(command, 1, "", "no")

    monkeypatch.setattr(tables.subprocess, "run", run)
    monkeypatch.setattr(tables, "ensure", lambda _: tmp_path)
    monkeypatch.setattr(tables, "classpath", lambda _: ("a.jar",))
    with pytest.raises(StudyError) as caught:
        tables.look(given, OPEN, "namespace", "state", "x")
    assert str(given) not in " ".join(argv) and str(given) in caught.value.where
    assert found == ["core-site.xml", "hbase-site.xml", "log4j.properties"]
    assert not list((tmp_path / "runtime").iterdir())


@pytest.mark.parametrize("name", ["", "core-site.xml"])
def test_a_configuration_that_everybody_may_change_is_refused(tmp_path: File, name: str) -> None:
    given = tmp_path / "given"
    given.mkdir(mode=0o755)
    for site in ("core-site", "hbase-site"):
        (given / f"{site}.xml").write_text("<configuration/>")
    read_configuration(given)
    (given / name).chmod(0o777)
    with pytest.raises(InputError, match="everybody may write to it"):
        read_configuration(given)


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")
def test_files_of_another_person_are_refused(tmp_path: File) -> None:
    given, krb5 = tmp_path / "given", tmp_path / "krb5.conf"
    given.mkdir(mode=0o755)
    krb5.write_text("[plugins]\n")
    for site in ("core-site", "hbase-site"):
        (given / f"{site}.xml").write_text("<configuration/>")
    os.chown(given / "hbase-site.xml", 999, 999)  # of the system
    read_configuration(given)
    assert krb5_conf_of(Kerberos(krb5_conf=str(krb5))) == str(krb5)
    for path in (given / "hbase-site.xml", given, krb5):
        os.chown(path, 5001, 5001)
    with pytest.raises(InputError, match="belongs to user 5001"):
        read_configuration(given)
    with pytest.raises(InputError, match="belongs to user 5001"):
        krb5_conf_of(Kerberos(krb5_conf=str(krb5)))


def test_the_watcher_sees_what_it_is_for(tmp_path: File) -> None:
    with watching() as seen:
        subprocess.run(["true"], check=True)
        (tmp_path / "x").write_text("x")
        (tmp_path / "y").mkdir()
    assert {line.split()[0] for line in seen} >= {"subprocess.Popen", "open", "os.mkdir"}
