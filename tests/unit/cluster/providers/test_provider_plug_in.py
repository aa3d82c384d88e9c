"""Providers of other packages: one that cannot be used is named."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.providers import provider


@pytest.mark.parametrize(("name", "fault"), [("local", "registered twice"), ("cloud", "abstract")])
def test_an_unusable_provider_is_named(
    name: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unfinished(provider.Provider):  # type: ignore[type-arg]
        pass

    monkeypatch.setattr(provider, "OF_OTHERS", (name,))
    monkeypatch.setattr(provider, "class_named", lambda *_: Unfinished)
    with pytest.raises(InputError, match=fault) as caught:
        provider.provider_of.__wrapped__(name)
    assert name in caught.value.where
