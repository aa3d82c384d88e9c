"""Studies with provider `existing`: their keys, their plan, and what they may not ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.planning.planned_study import outlined_study, plan_study

STUDY = """\
study: production
provider: existing
existing: {configuration: /etc/hadoop, folder: /user/me/density}
workloads:
  - testdfsio: {modes: [write], files: 2, file_size: 64 MiB}
"""


def spec(folder: Path, text: str) -> Path:
    path = folder / "study.yaml"
    path.write_text(text)
    return path


def test_the_plan_has_the_client_alone_and_asks_no_cluster(tmp_path: Path) -> None:
    plan = plan_study(spec(tmp_path, STUDY), runs=tmp_path / "runs").plan
    assert outlined_study(spec(tmp_path, STUDY)).plan.builds == plan.builds == {"b1-given": "given"}
    topology = plan.topologies["given"]
    assert [node.name for node in topology.nodes] == ["c1"] and not topology.workers
    given = topology.given
    assert given is not None and (given.namespace, given.queue) == ("density_study", "default")
    assert given.staging.startswith("/user/me/density/") and given.history.startswith(
        "/user/me/density/"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STUDY + "hosts: [{name: a, memory: auto}]\n", "provider existing takes no key hosts"),
        (STUDY + "factors: {vms_per_host: [1]}\n", "provider existing takes no key factors"),
        (STUDY + "stack: {hadoop: 3.4.1}\n", "provider existing takes no key stack"),
        (STUDY.replace("provider: existing\n", ""), "key 'hosts' is missing"),
        (STUDY.replace("existing: {", "notify: []\n#"), "needs the key existing"),
        (STUDY.replace("/user/me/density", "/density"), "an absolute path below another folder"),
        (STUDY.replace("/user/me/density", "/user/../density"), "has . or .. in it"),
        (STUDY.replace("/etc/hadoop", "etc/hadoop"), "an absolute path"),
        (STUDY.replace("folder:", "namespace: a-b, folder:"), "letters, digits and underscores"),
        (
            STUDY.replace("folder:", "kerberos: {principal: a@B}, folder:"),
            "principal and keytab belong together",
        ),
        (
            STUDY.replace("folder:", "kerberos: {principal: a, keytab: /k}, folder:"),
            "a principal with its realm",
        ),
        (
            STUDY.replace(
                "folder:", "kerberos: {principal: a@B, keytab: /k, ticket_cache: /c}, folder:"
            ),
            "a keytab or a ticket_cache, not both",
        ),
        (STUDY.replace("files: 2", "storage_policy: ALL_SSD, files: 2"), "storage types"),
        (
            STUDY.replace("files: 2", "erasure_coding: XOR-2-1-1024k, files: 2"),
            "all of a given cluster",
        ),
    ],
)
def test_what_a_given_cluster_has_not_is_one_error(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        plan_study(spec(tmp_path, text), runs=tmp_path / "runs")
    assert said in caught.value.what
