"""`study stack add`: a version's jars are locked once, in the cache, and never again."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.versions import Versions
from density_study.cluster.stack import ensure, stack_home
from density_study.cluster.stack.adding import add
from density_study.cluster.stack.lock import lock_of, read_lock
from density_study.cluster.stack.recipes import locked_versions, recipe_of
from tests.support.toy_stack import ToyStack

NEW = Versions("3.4.77", "2.6.77-hadoop3")


@pytest.fixture
def maven(toy: ToyStack) -> ToyStack:
    """A Maven that delivers these jars for every version."""
    (toy.repository / "netty-handler-4.1.7.Final.jar").write_bytes(b"netty")
    return toy


def test_both_stacks_are_locked_in_the_cache(maven: ToyStack) -> None:
    assert NEW not in set(locked_versions())
    hadoop, hbase = add(NEW)
    assert hadoop.lock == maven.base / "cache/locks/hadoop/3.4.77.sha256"
    assert hbase.lock == maven.base / "cache/locks/hbase/2.6.77-hadoop3+3.4.77.sha256"
    assert read_lock(hadoop) == lock_of(maven.repository)
    assert NEW in set(locked_versions())
    for name in ("hadoop", "hbase"):
        assert ensure(name, NEW).home == stack_home(name, NEW)


def test_maven_gets_the_versions_and_hbase_the_netty_of_its_hadoop(maven: ToyStack) -> None:
    list(add(NEW))
    hadoop, hbase = (maven.base / "calls").read_text().splitlines()
    assert "-Dhadoop.version=3.4.77" in hadoop.split()
    wanted = {"-Dhadoop.version=3.4.77", "-Dhbase.version=2.6.77-hadoop3"}
    assert wanted | {"-Dnetty.version=4.1.7.Final"} <= set(hbase.split())


def test_a_locked_version_is_not_locked_again(maven: ToyStack) -> None:
    list(add(NEW))
    (maven.repository / "b-2.jar").write_bytes(b"something else")
    list(add(NEW))
    assert maven.calls() == 2
    with pytest.raises(InputError, match=r"b-2\.jar has SHA-256"):
        ensure("hadoop", NEW)


def test_a_version_that_maven_does_not_have_leaves_no_lock(maven: ToyStack) -> None:
    (maven.base / "fail").touch()
    with pytest.raises(InputError, match="could not transfer") as caught:
        list(add(NEW))
    assert caught.value.where == "hadoop 3.4.77 on Maven Central"
    assert not recipe_of("hadoop", NEW).lock.exists()


def test_without_a_lock_nothing_is_downloaded(maven: ToyStack) -> None:
    with pytest.raises(InputError, match="has no lock file") as caught:
        ensure("hbase", Versions(hbase="2.6.77-hadoop3"))
    assert "study stack add hbase 2.6.77-hadoop3 --hadoop 3.4.2" in caught.value.remedy
    assert maven.calls() == 0


def test_a_shipped_lock_precedes_one_in_the_cache(maven: ToyStack) -> None:
    shipped = recipe_of("hadoop")
    own = Path(shipped.own_lock)
    own.parent.mkdir(parents=True)
    own.write_text("0" * 64 + "  forged.jar\n")
    assert recipe_of("hadoop").lock == shipped.shipped_lock
    assert "forged.jar" not in read_lock(recipe_of("hadoop")).jars
