"""Studies with provider `existing`: their keys, their plan, and what they may not ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.existing import Kerberos, Prometheus
from density_study.workloads.planning.planned_study import outlined_study, plan_study
from density_study.workloads.planning.requests import requests_of
from density_study.workloads.record.recorded import recorded

STUDY = """\
study: production
provider: existing
existing: {configuration: /etc/hadoop, folder: /user/me/density}
workloads:
  - testdfsio: {modes: [write], files: 2, file_size: 64 MiB}
"""
PROMETHEUS = STUDY.replace("folder:", 'prometheus: {url: "URL", token_file: /t}, folder:')
WATCHED = (
    STUDY
    + """\
ssh: {user: me}
hosts:
  - {name: d1, address: 10.0.0.1}
"""
)


def spec(folder: Path, text: str) -> Path:
    path = folder / "study.yaml"
    path.write_text(text)
    return path


def test_the_plan_has_the_client_alone_and_asks_no_cluster(tmp_path: Path) -> None:
    plan = plan_study(spec(tmp_path, STUDY), runs=tmp_path / "runs").plan
    assert (
        outlined_study(spec(tmp_path, STUDY)).plan.builds
        == plan.builds
        == {"b1-existing": "existing"}
    )
    topology = plan.topologies["existing"]
    assert [node.name for node in topology.nodes] == ["c1"] and not topology.workers
    existing = topology.existing
    assert existing is not None and (existing.namespace, existing.queue) == (
        "density_study",
        "default",
    )
    assert existing.staging.startswith("/user/me/density/") and existing.history.startswith(
        "/user/me/density/"
    )


def test_hosts_are_watched_and_are_no_nodes_of_the_study(tmp_path: Path) -> None:
    plan = outlined_study(spec(tmp_path, WATCHED)).plan
    topology = plan.topologies["existing"]
    assert [node.name for node in topology.nodes] == ["c1"] and not topology.workers
    assert topology.existing is not None
    assert [host.name for host in topology.existing.watched] == ["d1"]
    record = recorded(topology)
    assert [node.name for node in record.workers] == ["d1"]
    assert (record.variant.disk_type, record.variant.vms_per_host) == ("unknown", None)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("/etc/hadoop", "~nobody-here/conf", "configuration"),
        ("folder:", "ca_file: ~nobody-here/ca, folder:", "ca_file"),
        ("folder:", "kerberos: {principal: a@B, keytab: ~nobody-here/k}, folder:", "kerberos.keytab"),
        ("folder:", "kerberos: {krb5_conf: ~nobody-here/k}, folder:", "kerberos.krb5_conf"),
    ],
)  # fmt: skip
def test_the_home_folder_of_nobody_is_refused_by_its_key(
    tmp_path: Path, old: str, new: str, key: str
) -> None:
    with pytest.raises(InputError, match="a user who has none here") as caught:
        outlined_study(spec(tmp_path, STUDY.replace(old, new)))
    assert caught.value.where == f"key {key}"


VARIANTS = """\
study: variants
provider: existing
existing: {folder: /user/me/density}
ssh: {user: me}
hosts: [{name: d1, address: 10.0.0.1}, {name: d2, address: 10.0.0.2}]
factors:
  cluster:
    old: {configuration: /etc/old, hosts: [d1], vms_per_host: 1, disk_type: hdd}
    new: {configuration: /etc/new, hosts: [d2], folder: /data/density}
workloads:
  - testdfsio: {modes: [write], files: 2, file_size: 64 MiB}
repetitions: 6
"""


def test_each_existing_cluster_is_a_topology_and_each_repetition_joins_all_in_random_order(
    tmp_path: Path,
) -> None:
    plan = outlined_study(spec(tmp_path, VARIANTS)).plan
    assert list(plan.topologies) == ["existing-old", "existing-new"]
    old, new = plan.topologies.values()
    assert old.existing is not None and new.existing is not None
    assert (old.existing.configuration, old.existing.folder) == ("/etc/old", "/user/me/density")
    assert (new.existing.configuration, new.existing.folder) == ("/etc/new", "/data/density")
    assert [[h.name for h in one.existing.watched] for one in (old, new) if one.existing] == [
        ["d1"],
        ["d2"],
    ]
    assert recorded(old).declared == {"cluster": "old", "vms_per_host": "1", "disk_type": "hdd"}
    assert recorded(new).declared == {"cluster": "new"}
    assert (recorded(new).variant.disk_type, recorded(new).variant.vms_per_host) == (
        "unknown",
        None,
    )
    firsts = {build for build in plan.builds if list(plan.builds).index(build) % 2 == 0}
    assert len(plan.builds) == 12 and {build.split("-", 1)[1] for build in firsts} == {
        "existing-old", "existing-new"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STUDY + "hosts: [{name: a, address: 10.0.0.1}]\n", "it needs both keys, hosts and ssh"),
        (STUDY + "ssh: {user: me}\n", "it needs both keys, hosts and ssh"),
        (WATCHED + "  - {name: d2, address: 10.0.0.2, memory: 1 GiB}\n", "not memory"),
        (WATCHED + "  - {name: d2, address: 10.0.0.2, roles: [client]}\n", "is this machine"),
        (WATCHED + "  - {name: d2, address: 10.0.0.1}\n", "duplicate host address"),
        (WATCHED + "  - {name: here, address: 10.0.0.2}\n", "duplicate host name"),
        (STUDY + "factors: {vms_per_host: [1]}\n", "takes only the factor cluster"),
        (VARIANTS.replace("hosts: [d2], ", ""), "host 'd2' is of no cluster"),
        (VARIANTS.replace("hosts: [d2]", "hosts: [d1, d2]"), "host 'd1' is of old and new"),
        (VARIANTS.replace("hosts: [d2]", "hosts: [d2, d3]"), "'d3', which is not among hosts"),
        (VARIANTS.replace("existing: {", "existing: {configuration: /etc/x, "), "has its own configuration"),
        (STUDY.replace("configuration: /etc/hadoop, ", ""), "key existing needs configuration"),
        (STUDY + "stack: {hadoop: 3.4.1}\n", "provider existing takes no key stack"),
        (STUDY.replace("provider: existing\n", ""), "key 'hosts' is missing"),
        (STUDY.replace("existing: {", "notify: []\n#"), "needs the key existing"),
        (STUDY.replace("/user/me/density", "/density"), "an absolute path below another folder"),
        (STUDY.replace("/user/me/density", "/user/../density"), "has . or .. in it"),
        (STUDY.replace("/etc/hadoop", "etc/hadoop"), "an absolute path"),
        (STUDY.replace("folder:", "namespace: a-b, folder:"), "letters, digits and underscores"),
        (STUDY.replace("folder:", "kerberos: {principal: a@B}, folder:"),
         "principal and keytab belong together"),
        (STUDY.replace("folder:", "kerberos: {principal: a, keytab: /k}, folder:"),
         "a principal with its realm"),
        (STUDY.replace("folder:", "kerberos: {principal: a@B, keytab: /k, ticket_cache: /c}, folder:"),
         "a keytab or a ticket_cache, not both"),
        (PROMETHEUS.replace("URL", "http://me:secret@prom:9090"), "looks like a secret"),
        (PROMETHEUS.replace("URL", "http://prom:9090"), "sent in the clear; write https://"),
        (PROMETHEUS.replace("URL", "https://prom/?token=x"), "is not the address of a server"),
        (STUDY.replace("files: 2", "storage_policy: ALL_SSD, files: 2"), "storage types"),
        (STUDY.replace("files: 2", "erasure_coding: XOR-2-1-1024k, files: 2"), "all of an existing cluster"),
    ],
)  # fmt: skip
def test_what_an_existing_cluster_has_not_is_one_error(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(InputError) as caught:
        plan_study(spec(tmp_path, text), runs=tmp_path / "runs")
    assert said in caught.value.what


def test_a_prometheus_is_of_one_cluster_or_of_each(tmp_path: Path) -> None:
    for url in ("https://prom:9090/east/", "http://127.0.0.1:9090"):
        path = spec(tmp_path, PROMETHEUS.replace("URL", url))
        existing = outlined_study(path).plan.topologies["existing"].existing
        assert existing is not None and existing.prometheus == Prometheus(url, "/t")
        asked = [one for one in requests_of(outlined_study(path).plan) if one.to == "Prometheus"]
        assert len(asked) == 1
    text = VARIANTS.replace("hosts: [d2], ", "hosts: [d2], prometheus: {url: https://two}, ")
    topologies = outlined_study(spec(tmp_path, text)).plan.topologies.values()
    found = [one.existing.prometheus for one in topologies if one.existing]
    assert found == [None, Prometheus("https://two")]


def test_each_compared_cluster_may_have_its_own_login(tmp_path: Path) -> None:
    text = STUDY.replace("configuration: /etc/hadoop, ", "kerberos: {ticket_cache: /t}, ") + (
        "factors:\n  cluster:\n    a: {configuration: /a}\n"
        "    b: {configuration: /b, kerberos: {principal: u@B, keytab: /k}, ca_file: /ca}\n"
    )
    topologies = plan_study(spec(tmp_path, text), runs=tmp_path / "runs").plan.topologies.values()
    found = {
        t.existing.name: (t.existing.kerberos, t.existing.ca_file) for t in topologies if t.existing
    }
    assert found == {"a": (Kerberos(ticket_cache="/t"), ""), "b": (Kerberos("u@B", "/k"), "/ca")}


def test_a_plan_asks_no_host_that_is_watched(tmp_path: Path) -> None:
    """They have no keys here, and their addresses are nobody's."""
    found = plan_study(spec(tmp_path, VARIANTS), runs=tmp_path / "runs").plan.topologies.values()
    assert {host.name for one in found if one.existing for host in one.existing.watched} == {
        "d1",
        "d2",
    }
