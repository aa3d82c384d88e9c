"""A property counts as set only if the daemon that it is for says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from density_study.cluster.lifecycle.in_effect import in_effect
from density_study.cluster.model.configuration import BlockCache, Configuration
from density_study.cluster.model.errors import StudyError
from density_study.cluster.stores.store import render
from tests.support.topologies import blueprint, local

DAEMONS = render(blueprint(local(1))).daemons
MINE = Configuration(
    {"hbase-site": {"hbase.x": "60"}, "yarn-site": {"yarn.y": "${user.name}"}},
    block_cache=BlockCache("off-heap", 512),
)
SAID = {"hbase.x": "60", "yarn.y": "me", "hbase.bucketcache.size": "512"}


def answering(values: Mapping[str, str], asked: list[str] | None = None) -> Any:
    def fetch(url: str) -> Any:
        (asked if asked is not None else []).append(url)
        return {"properties": [{"key": key, "value": value} for key, value in values.items()]}

    return fetch


def test_each_value_is_read_from_the_daemons_that_it_is_for() -> None:
    asked: list[str] = []
    found = in_effect(DAEMONS, MINE, answering(SAID, asked))
    assert found == {
        "m1/hmaster": {"hbase.x": "60"},
        "w1/regionserver-1": {"hbase.x": "60", "hbase.bucketcache.size": "512"},
        "m1/resourcemanager": {"yarn.y": "me"},
        "w1/nodemanager": {"yarn.y": "me"},
    }
    assert len(asked) == 4 and all(url.endswith("/conf?format=json") for url in asked)


def test_nobody_is_asked_where_nothing_is_set() -> None:
    asked: list[str] = []
    assert in_effect(DAEMONS, Configuration(), answering(SAID, asked)) == {}
    assert asked == []


@pytest.mark.parametrize("said", [{**SAID, "hbase.x": "30"}, {"yarn.y": "me"}])
def test_a_daemon_with_another_value_is_named(said: Mapping[str, str]) -> None:
    with pytest.raises(StudyError, match=r"hmaster runs with hbase\.x = (30|nothing), not with 60"):
        in_effect(DAEMONS, MINE, answering(said))


@pytest.mark.parametrize("answer", [OSError("refused"), {}, {"properties": [{}]}, []])
def test_a_daemon_that_does_not_answer_is_an_error(answer: object) -> None:
    def fetch(_: str) -> Any:
        if isinstance(answer, OSError):
            raise answer
        return answer

    with pytest.raises(StudyError, match="does not show its configuration"):
        in_effect(DAEMONS, MINE, fetch)
