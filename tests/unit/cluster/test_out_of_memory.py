"""A daemon that dies because its container is out of memory: the error of the bring-up begins with that."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.lifecycle import bring_up
from density_study.cluster.model.errors import BringUpError

WHY = "container w1 ran out of memory"


@pytest.mark.parametrize(("causes", "what"), [([WHY], f"{WHY}; it died."), ([], "it died.")])
def test_the_cause_comes_first(
    monkeypatch: pytest.MonkeyPatch, causes: list[str], what: str
) -> None:
    def dies(_: float) -> None:
        raise BringUpError("it died.", "w1", "read its log.", daemon="datanode", log_tail="last")

    monkeypatch.setattr(bring_up, "out_of_memory", lambda *_: causes)
    build: Any = SimpleNamespace(start=dies, site=None, topology=None)
    with pytest.raises(BringUpError) as caught:
        bring_up._Build.start_explained(build, 1.0)
    assert (caught.value.what, caught.value.daemon, caught.value.log_tail) == (
        what,
        "datanode",
        "last",
    )
