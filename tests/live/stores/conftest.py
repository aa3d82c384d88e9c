"""A store's study, measured once for the tests of its module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live.support.measured import Measured, measured

pytest.register_assert_rewrite("tests.live.stores.checks")


@pytest.fixture(scope="module")
def done(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Measured]:
    """The trials of the module's SPEC."""
    with measured(request.module.SPEC, tmp_path_factory.mktemp("runs")) as found:
        yield found
