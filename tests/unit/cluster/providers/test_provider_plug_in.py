"""A topology holds its provider, its JSON the name. One of another package that cannot be used is named."""

from __future__ import annotations

import pickle

import pytest
from pydantic import TypeAdapter, ValidationError

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers import provider
from tests.support.topologies import physical


@pytest.mark.parametrize(("name", "fault"), [("local", "registered twice"), ("cloud", "abstract")])
def test_an_unusable_provider_is_named(
    name: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unfinished(provider.Provider):  # type: ignore[type-arg]
        pass

    monkeypatch.setattr(provider, "OF_OTHERS", (name,))
    monkeypatch.setattr(provider, "class_named", lambda *_: Unfinished)
    with pytest.raises(InputError, match=fault) as caught:
        provider.provider_named.__wrapped__(name)
    assert name in caught.value.where


def test_json_has_the_name_and_a_topology_the_provider() -> None:
    kind, topology = TypeAdapter(Topology), physical()
    assert topology.provider is provider.provider_named("physical")
    assert kind.dump_python(topology, mode="json")["provider"] == "physical"
    assert kind.validate_json(kind.dump_json(topology)) == topology
    assert pickle.loads(pickle.dumps(topology.provider)) is topology.provider


def test_an_unknown_provider_in_json_is_named() -> None:
    kind = TypeAdapter(Topology)
    text = kind.dump_json(physical()).replace(b'"physical"', b'"os:system"')
    with pytest.raises(ValidationError, match="provider 'os:system' does not exist"):
        kind.validate_json(text)
