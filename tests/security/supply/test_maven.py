"""The real Maven with a hostile repository: no code of it is loaded; a jar must be as locked."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.stack import ensure, stack_home
from density_study.cluster.stack.adding import delivered
from density_study.cluster.stack.recipe import Recipe
from density_study.cluster.stack.recipes import RECIPES
from tests.security.supply.repository import HOST, SETTINGS, Repository, jar, pom

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.skipif(shutil.which("mvn") is None, reason="needs Maven"),
]


@pytest.fixture
def repository() -> Repository:
    return Repository()


@pytest.fixture
def recipe(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Recipe]:
    """Of a user whose settings.xml names a mirror, its login and a proxy; with nothing downloaded yet."""
    (tmp_path / "home" / ".m2").mkdir(parents=True)
    monkeypatch.setenv("MAVEN_OPTS", f"-Duser.home={tmp_path / 'home'}")
    monkeypatch.setenv("DENSITY_STUDY_CACHE", str(tmp_path / "cache"))
    toy = Recipe("toy", "1", pom(tmp_path / "toy").parent)
    monkeypatch.setitem(RECIPES, "toy", lambda _: toy)
    with repository.served() as port:
        settings = SETTINGS.format(host=HOST, port=port)
        (tmp_path / "home" / ".m2" / "settings.xml").write_text(settings)
        yield toy


def test_maven_asks_the_users_mirror_by_his_proxy_and_login_for_jars_and_poms_alone(
    recipe: Recipe, repository: Repository, tmp_path: Path
) -> None:
    recipe.shipped_lock.write_text(delivered(recipe).text())
    home = ensure("toy").home
    assert sorted(path.name for path in (home / "lib").iterdir()) == ["a-1.jar", "b-1.jar"]
    jars = json.loads((home / "manifest.json").read_text())["jars"]
    assert [one["purl"] for one in jars] == [f"pkg:maven/org.toy/{x}@1?type=jar" for x in "ab"]
    assert [one["licences"] for one in jars] == [["Toy Licence"], []]
    asked = {path.removesuffix(".sha1") for path in repository.asked}
    files = {f"{HOST}/maven/org/toy/{x}/1/{x}-1.{kind}" for x in "ab" for kind in ("jar", "pom")}
    assert asked == files | {f"{HOST}/maven/org/toy/parent/1/parent-1.pom"}
    kept = tmp_path / "home" / ".m2" / "repository"
    assert {path.parts[len(kept.parts)] for path in kept.rglob("*.jar")} == {"org"}
    assert sorted(path.name for path in kept.rglob("*.jar")) == ["a-1.jar", "b-1.jar"]


@pytest.mark.parametrize("place", ["repository", "local repository"])
def test_a_tampered_jar_is_refused_by_name(
    place: str, recipe: Recipe, repository: Repository, tmp_path: Path
) -> None:
    recipe.shipped_lock.write_text(delivered(recipe).text())
    kept = tmp_path / "home" / ".m2" / "repository"
    if place == "repository":
        shutil.rmtree(kept)
        repository.add("org/toy/b/1/b-1.jar", jar("evil"))
    else:
        (kept / "org/toy/b/1/b-1.jar").write_bytes(jar("evil"))
    with pytest.raises(InputError, match=r"b-1\.jar has SHA-256") as caught:
        ensure("toy")
    assert "do not use this jar" in caught.value.remedy
    assert not stack_home("toy").exists()


def test_a_tampered_pom_that_adds_a_jar_is_refused_by_that_jars_name(
    recipe: Recipe, repository: Repository, tmp_path: Path
) -> None:
    recipe.shipped_lock.write_text(delivered(recipe).text())
    shutil.rmtree(tmp_path / "home" / ".m2" / "repository")
    changed = repository.files["/maven/org/toy/a/1/a-1.pom"].decode()
    needs = "<artifactId>b</artifactId><version>1</version></dependency>"
    more = "<dependency><groupId>org.toy</groupId><artifactId>c</artifactId><version>1</version></dependency>"
    repository.add("org/toy/a/1/a-1.pom", changed.replace(needs, needs + more).encode())
    repository.add(
        "org/toy/c/1/c-1.pom",
        repository.files["/maven/org/toy/b/1/b-1.pom"].replace(b">b<", b">c<"),
    )
    repository.add("org/toy/c/1/c-1.jar", jar("c"))
    with pytest.raises(InputError, match=r"c-1\.jar has SHA-256 .* no entry for it"):
        ensure("toy")


def test_a_jar_that_its_checksum_contradicts_is_refused(
    recipe: Recipe, repository: Repository
) -> None:
    repository.files["/maven/org/toy/b/1/b-1.jar"] = jar("cut")
    with pytest.raises(InputError, match=r"(?i)checksum"):
        delivered(recipe)
