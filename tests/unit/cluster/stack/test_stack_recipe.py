"""The committed poms and locks agree with each other and contain what the daemons need."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from density_study.cluster.model.versions import VERSIONS, ZOOKEEPER, Versions
from density_study.cluster.stack.lock import read_lock
from density_study.cluster.stack.recipe import Recipe
from density_study.cluster.stack.recipes import RECIPES, further_recipes, locked_versions, recipe_of

MAVEN = {"m": "http://maven.apache.org/POM/4.0.0"}


LOCKED = {
    recipe.shipped_lock: recipe
    for versions in locked_versions()
    for recipe in (recipe_of(name, versions) for name in (*RECIPES, ZOOKEEPER))
    if recipe.shipped_lock.exists()
}
every_lock = pytest.mark.parametrize(
    "recipe", LOCKED.values(), ids=[f"{path.parent.name}/{path.stem}" for path in LOCKED]
)


def test_the_versions_that_upgrades_start_from_are_shipped() -> None:
    shipped = set(locked_versions())
    assert {Versions(hadoop) for hadoop in ("3.3.6", "3.4.1", "3.4.2", "3.5.0")} <= shipped
    assert Versions(hbase="2.5.13-hadoop3") in shipped


@every_lock
def test_lock_is_sorted_and_has_one_logging_binding(recipe: Recipe) -> None:
    names = list(read_lock(recipe).jars)
    assert names == sorted(names)
    bindings = re.compile(r"(slf4j-(?!api)|log4j-slf4j|logback-classic|log4j-over).*")
    assert [name for name in names if bindings.match(name)] == ["slf4j-reload4j-1.7.36.jar"]


@every_lock
def test_hadoop_and_netty_have_one_version_everywhere(recipe: Recipe) -> None:
    names = read_lock(recipe).jars
    hadoop = {v for n in names for v in re.findall(r"^hadoop-(?!shaded).*?-(\d[\d.]*\d)", n)}
    netty = {v for n in names for v in re.findall(r"^netty-.*?-(\d[\d.]*\.Final)", n)}
    assert hadoop <= {recipe.properties.get("hadoop.version", VERSIONS.hadoop)}
    assert hadoop or recipe.name == ZOOKEEPER
    assert len(netty) == 1


@pytest.mark.parametrize("name", [*RECIPES, *further_recipes()])
def test_no_pom_lets_maven_load_code(name: str) -> None:
    """Plug-ins and extensions would run on this machine, and no lock names them."""
    root = ElementTree.parse(recipe_of(name).pom).getroot()
    assert root.findtext("m:packaging", namespaces=MAVEN) == "pom"
    loading = ("build", "parent", "profiles", "reporting", "repositories", "pluginRepositories")
    assert [tag for tag in loading if root.find(f"m:{tag}", MAVEN) is not None] == []


@every_lock
def test_the_pom_has_the_properties_that_determine_versions(recipe: Recipe) -> None:
    """Maven ignores a property that no pom has: the lock would be that of the default version."""
    declared = ElementTree.parse(recipe.pom).find("m:properties", MAVEN)
    assert declared is not None
    assert set(recipe.properties) <= {one.tag.rpartition("}")[2] for one in declared}


@pytest.mark.parametrize(
    ("name", "jar"),
    [
        ("hadoop", "hadoop-mapreduce-client-jobclient-3.4.2-tests.jar"),
        ("hadoop", "hadoop-common-3.4.2-tests.jar"),
        ("hadoop", "hadoop-hdfs-client-3.4.2.jar"),
        ("hadoop", "hadoop-yarn-server-timelineservice-3.4.2.jar"),
        ("hadoop", "hadoop-mapreduce-client-shuffle-3.4.2.jar"),
        ("hbase", "hbase-server-2.6.4-hadoop3.jar"),
        ("hbase", "zookeeper-3.8.4.jar"),
        ("ycsb", "core-0.17.0.jar"),
        ("ycsb", "HdrHistogram-2.2.2.jar"),
        ("ycsb", "jaxb-api-2.3.1.jar"),
        ("ycsb", "hbase-client-2.6.4-hadoop3.jar"),
    ],
)
def test_jars_of_daemons_and_clients_are_present(name: str, jar: str) -> None:
    assert jar in read_lock(recipe_of(name)).jars
