"""Folders with code that runs as this user (jars of stacks, plug-ins of Airflow) are closed to others."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.stack import ensure
from density_study.dags.airflow_home.home import home
from density_study.workloads.planning.planned_study import new_runs
from tests.security.other_users.rights import needs_root
from tests.support.toy_stack import install

SOMEBODY = 5001


def give(path: Path) -> None:
    os.chown(path, SOMEBODY, SOMEBODY)


TAKEN = [
    pytest.param(lambda path: path.chmod(0o777), "everybody may write to it", id="writable"),
    pytest.param(give, f"it belongs to user {SOMEBODY}", id="foreign", marks=needs_root),
]


@pytest.mark.parametrize(("take", "words"), TAKEN)
@pytest.mark.parametrize("level", range(4))
def test_jars_that_others_may_exchange_are_not_used(
    level: int,
    take: Callable[[Path], object],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By others of the same size, as a use looks at sizes alone."""
    install(tmp_path, monkeypatch)
    library = ensure("toy").home / "lib"
    folder = (library, *library.parents)[level]
    assert (library.parents[2] == tmp_path / "cache") and ensure("toy")
    take(folder)
    with pytest.raises(InputError, match=words) as caught:
        ensure("toy")
    assert caught.value.where == str(folder) and "DENSITY_STUDY_CACHE" in caught.value.remedy


@pytest.mark.parametrize("name", ["shared", "shared/not yet"])
def test_no_run_is_made_where_every_user_can_exchange_it(name: str, tmp_path: Path) -> None:
    """Its folder holds configurations that daemons read while it runs."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    runs = tmp_path / name.replace(" ", "-")
    with pytest.raises(InputError, match="every user can replace") as caught, new_runs(runs):
        pass
    assert f"chmod +t {tmp_path / 'shared'}" in caught.value.remedy and not list(
        tmp_path.glob("*/*")
    )
    (tmp_path / "shared").chmod(0o1777)
    with new_runs(runs):
        assert runs.is_dir()


@pytest.mark.parametrize(("take", "words"), TAKEN)
def test_an_airflow_home_that_others_may_write_to_is_refused(
    take: Callable[[Path], object], words: str, tmp_path: Path
) -> None:
    environment = {"DENSITY_STUDY_HOME": str(tmp_path)}
    folder = home(environment).root
    folder.mkdir(mode=0o700)
    assert home(environment).root == folder
    take(folder)
    with pytest.raises(InputError, match=words) as caught:
        home(environment)
    assert caught.value.where == str(folder) and "DENSITY_STUDY_HOME" in caught.value.remedy
