"""What web servers of an existing cluster answer that start, fail over, or are something else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import requests

from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.existing import answers, web
from density_study.cluster.providers.existing.answers import ask, require_queue
from density_study.cluster.providers.existing.hdfs_folder import HdfsFolder
from density_study.cluster.providers.existing.limits import check_limits
from density_study.workloads.execution import others

FIRST, SECOND, MANAGER = "nn1:9870", "nn2:9870", "rm:8088"
CONFIGURATION: Any = SimpleNamespace(
    namenodes_http=lambda: [FIRST, SECOND], resourcemanagers_http=lambda: [MANAGER]
)
SOUND: dict[str, Any] = {
    "NameNodeStatus": {"beans": [{"State": "active"}]},
    "NameNodeInfo": {"beans": [{"LiveNodes": '{"dn1:9866": {"xferaddr": "192.0.2.1:9866"}}',
                                "Safemode": "", "SoftwareVersion": "3.4.2"}]},
    "FSNamesystem": {"beans": [{"CapacityRemaining": 2**30, "CapacityTotal": 2**31}]},
    "info": {"clusterInfo": {"haState": "ACTIVE"}},
    "nodes": {"nodes": {"node": [{"nodeHostName": "dn1", "state": "RUNNING"}]}},
    "scheduler": {"scheduler": {"schedulerInfo": {"queueName": "default"}}},
    "apps": {"apps": None},
}  # fmt: skip
OTHERWISE: tuple[Any, ...] = ({}, [], "a page", None, {"beans": []}, {"beans": [{}]}, {"beans": 3})


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What is answered, by the last word of what is asked; that of one address by `<address> <word>`."""
    found = dict(SOUND)

    def get_json(address: str, path: str, parameters: Any = None, access: Any = None) -> Any:
        word = (parameters or {}).get("qry", path).rpartition("=")[2].rpartition("/")[2]
        return found.get(f"{address} {word}", found[word])

    for module in (answers, others, web):
        monkeypatch.setattr(module, "get_json", get_json)
    return found


@pytest.mark.parametrize("otherwise", OTHERWISE)
def test_a_namenode_that_starts_keeps_nobody_from_the_active_one(
    otherwise: Any, said: dict[str, Any]
) -> None:
    said[f"{FIRST} NameNodeStatus"] = otherwise
    found = ask(CONFIGURATION)
    assert (found.namenode, found.workers, found.free_mib) == (SECOND, ("192.0.2.1", "dn1"), 1024)
    said["NameNodeStatus"] = otherwise
    with pytest.raises(StudyError, match=f"no NameNode is active: {FIRST}: its answer .*{SECOND}"):
        ask(CONFIGURATION)


@pytest.mark.parametrize("otherwise", OTHERWISE)
@pytest.mark.parametrize("word", [word for word in SOUND if word != "NameNodeStatus"])
def test_whoever_answers_otherwise_is_named(
    word: str, otherwise: Any, said: dict[str, Any]
) -> None:
    said[word] = otherwise
    endpoints = SimpleNamespace(
        all=lambda _: {}, one=lambda name: FIRST if "name" in name else MANAGER
    )
    limited = SimpleNamespace(others_p99_ms=None, hdfs_free_percent=1.0)
    topology = SimpleNamespace(existing=SimpleNamespace(endpoint=None, limits=limited))
    cluster: Any = SimpleNamespace(endpoints=endpoints, access=None, topology=topology)
    with pytest.raises(StudyError) as refused:
        if word == "scheduler":
            require_queue(MANAGER, "default")
        elif word == "apps":
            others._vcore_s(cluster)
        elif word == "FSNamesystem":
            check_limits(cluster)
        else:
            ask(CONFIGURATION)
    wanted = MANAGER if word in ("info", "nodes", "scheduler", "apps") else FIRST
    assert wanted in str(refused.value) and "its answer lacks" in refused.value.what


@pytest.mark.parametrize("text", ["<html>log in</html>", "{}", "[]"])
def test_a_page_in_the_place_of_webhdfs_is_named(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = requests.Response()
    page.status_code, page._content = 200, text.encode()
    monkeypatch.setattr(HdfsFolder, "_sent", lambda *_, **__: page)
    folder = HdfsFolder(FIRST, "/user/me/x")
    for act in (folder._children, lambda: folder.check_room(1), lambda: folder._write("/x", "t")):
        with pytest.raises(StudyError, match="its answer lacks") as refused:
            act()
        assert refused.value.where == FIRST
