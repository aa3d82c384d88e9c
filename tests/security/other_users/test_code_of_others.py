"""Folders with code that runs as this user (jars of stacks, plug-ins of Airflow) are closed to others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.stack import ensure
from density_study.dags.airflow_home.home import home
from tests.support.toy_stack import install

SOMEBODY = 5001
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="gives folders away")


def give(path: Path) -> None:
    os.chown(path, SOMEBODY, SOMEBODY)


TAKEN = [
    pytest.param(lambda path: path.chmod(0o777), "everybody may write to it", id="writable"),
    pytest.param(give, f"it belongs to user {SOMEBODY}", id="foreign", marks=needs_root),
]


@pytest.mark.parametrize(("take", "words"), TAKEN)
@pytest.mark.parametrize("level", range(4))
def test_jars_that_others_may_exchange_are_not_used(
    level: int, take: object, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By others of the same size, as a use looks at sizes alone."""
    install(tmp_path, monkeypatch)
    library = ensure("toy").home / "lib"
    folder = (library, *library.parents)[level]
    assert (library.parents[2] == tmp_path / "cache") and ensure("toy")
    take(folder)  # type: ignore[operator]
    with pytest.raises(InputError, match=words) as caught:
        ensure("toy")
    assert caught.value.where == str(folder) and "DENSITY_STUDY_CACHE" in caught.value.remedy


@pytest.mark.parametrize(("take", "words"), TAKEN)
def test_an_airflow_home_that_others_may_write_to_is_refused(
    take: object, words: str, tmp_path: Path
) -> None:
    environment = {"DENSITY_STUDY_HOME": str(tmp_path)}
    folder = home(environment).root
    folder.mkdir(mode=0o700)
    assert home(environment).root == folder
    take(folder)  # type: ignore[operator]
    with pytest.raises(InputError, match=words) as caught:
        home(environment)
    assert caught.value.where == str(folder) and "DENSITY_STUDY_HOME" in caught.value.remedy
