"""The committed poms and locks agree with each other and contain what the daemons need."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from cluster.stack.recipe import RECIPES, Recipe
from cluster.stack.tree import read_lock

MAVEN = {"m": "http://maven.apache.org/POM/4.0.0"}


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.name)
def test_recipe_and_pom_name_the_same_version(recipe: Recipe) -> None:
    assert ElementTree.parse(recipe.pom).findtext("m:version", namespaces=MAVEN) == recipe.version


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.name)
def test_lock_is_sorted_and_has_one_logging_binding(recipe: Recipe) -> None:
    names = list(read_lock(recipe.lock).jars)
    assert names == sorted(names)
    bindings = re.compile(r"(slf4j-(?!api)|log4j-slf4j|logback-classic|log4j-over).*")
    assert [name for name in names if bindings.match(name)] == ["slf4j-reload4j-1.7.36.jar"]


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.name)
def test_hadoop_and_netty_have_one_version_everywhere(recipe: Recipe) -> None:
    names = read_lock(recipe.lock).jars
    hadoop = {v for n in names for v in re.findall(r"^hadoop-(?!shaded).*?-(\d[\d.]*\d)", n)}
    netty = {v for n in names for v in re.findall(r"^netty-.*?-(\d[\d.]*\.Final)", n)}
    assert hadoop == {"3.4.2"}
    assert len(netty) == 1


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.name)
def test_every_maven_plugin_is_pinned(recipe: Recipe) -> None:
    plugins = ElementTree.parse(recipe.pom).findall(".//m:plugin", MAVEN)
    assert plugins
    assert all(plugin.findtext("m:version", namespaces=MAVEN) for plugin in plugins)


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
    assert jar in read_lock(RECIPES[name].lock).jars
