"""`ensure`: cached or assembled, never half done; a fake Maven replaces the real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.stack import classpath, ensure, ensure_all, stack_home
from density_study.cluster.stack.lock import lock_of
from density_study.cluster.stack.recipe import Recipe
from density_study.cluster.stack.recipes import RECIPES
from tests.support.toy_stack import ToyStack, executable


def test_only_the_first_use_assembles(toy: ToyStack, capsys: pytest.CaptureFixture[str]) -> None:
    first = ensure("toy")
    assert "assembling toy 1.0 from Maven Central" in capsys.readouterr().err
    assert ensure("toy") == first
    assert toy.calls() == 1
    assert capsys.readouterr().err == ""
    assert (first.name, first.version, first.home) == ("toy", "1.0", stack_home("toy"))


def test_the_tree_has_the_documented_layout(toy: ToyStack) -> None:
    stack = ensure("toy")
    assert sorted(p.name for p in stack.home.iterdir()) == [
        "lib",
        "manifest.json",
        "properties.txt",
        "webapps",
    ]
    assert sorted(p.name for p in (stack.home / "webapps").iterdir()) == ["hdfs", "node"]
    manifest = json.loads((stack.home / "manifest.json").read_text())
    assert manifest["jars_sha256"] == stack.jars_sha256
    assert [jar["name"] for jar in manifest["jars"]] == ["a-1.jar", "b-2.jar"]
    assert {len(jar["sha256"]) for jar in manifest["jars"]} == {64}


def test_class_path_is_sorted_jars_then_the_webapps_home(toy: ToyStack) -> None:
    stack = ensure("toy")
    library = stack.home / "lib"
    assert classpath(stack) == (str(library / "a-1.jar"), str(library / "b-2.jar"), str(stack.home))


@pytest.mark.parametrize("name", ["pom.xml", "jars.sha256"])
def test_another_pom_or_lock_gives_another_tree(toy: ToyStack, name: str) -> None:
    before = stack_home("toy")
    path = toy.recipe.directory / name
    path.write_bytes(path.read_bytes() + b"\n")
    assert stack_home("toy") != before


def test_other_sources_give_another_tree_and_other_tests_do_not(toy: ToyStack) -> None:
    before = stack_home("toy")
    executable(toy.recipe.directory / "src" / "test" / "ATest.java", "class ATest {}")
    assert stack_home("toy") == before
    executable(toy.recipe.directory / "src" / "main" / "A.java", "class A {}")
    assert stack_home("toy") != before


def test_a_jar_with_another_hash_is_refused_with_both_hashes(toy: ToyStack) -> None:
    locked = lock_of(toy.repository).jars["b-2.jar"]
    (toy.repository / "b-2.jar").write_bytes(b"something else")
    got = lock_of(toy.repository).jars["b-2.jar"]
    with pytest.raises(InputError) as refused:
        ensure("toy")
    assert all(part in refused.value.what for part in ("b-2.jar", locked, got))
    assert "density_study.cluster.stack lock toy" in refused.value.remedy
    assert not stack_home("toy").exists()
    assert toy.leftovers() == []


def test_an_extra_or_missing_jar_is_refused(toy: ToyStack) -> None:
    (toy.repository / "c-3.jar").write_bytes(b"c")
    with pytest.raises(InputError, match=r"c-3\.jar"):
        ensure("toy")
    (toy.repository / "c-3.jar").unlink()
    (toy.repository / "a-1.jar").unlink()
    with pytest.raises(InputError, match=r"a-1\.jar has SHA-256 none"):
        ensure("toy")


@pytest.mark.parametrize("text", [None, "abc  a-1.jar\n", "0" * 64 + " a-1.jar\n"])
def test_a_missing_or_malformed_lock_is_named(toy: ToyStack, text: str | None) -> None:
    if text is None:
        toy.recipe.lock.unlink()
    else:
        toy.recipe.lock.write_text(text)
    with pytest.raises(InputError) as refused:
        ensure("toy")
    assert "jars.sha256" in refused.value.where


def test_a_maven_failure_shows_its_last_lines(toy: ToyStack) -> None:
    (toy.base / "fail").touch()
    with pytest.raises(InputError) as refused:
        ensure("toy")
    assert "could not transfer artifact a:a:jar:1" in refused.value.what
    assert "see the wiki" not in refused.value.what
    assert not stack_home("toy").exists()
    assert toy.leftovers() == []
    (toy.base / "fail").unlink()
    assert ensure("toy").home.exists()


def test_maven_is_needed_only_while_the_cache_is_empty(toy: ToyStack) -> None:
    maven = toy.base / "bin" / "mvn"
    away = maven.rename(toy.base / "mvn")
    with pytest.raises(InputError, match="no mvn is on PATH") as refused:
        ensure("toy")
    assert "apt install maven" in refused.value.remedy
    away.rename(maven)
    ensure("toy")
    maven.unlink()
    assert ensure("toy").name == "toy"


def test_an_unwritable_cache_is_named(toy: ToyStack, monkeypatch: pytest.MonkeyPatch) -> None:
    (toy.base / "file").touch()
    monkeypatch.setenv("DENSITY_STUDY_CACHE", str(toy.base / "file"))
    with pytest.raises(InputError, match="is not writable") as refused:
        ensure("toy")
    assert "DENSITY_STUDY_CACHE" in refused.value.remedy


def test_a_wrong_java_is_detected_before_maven_starts(toy: ToyStack) -> None:
    (toy.base / "jdk" / "release").write_text('JAVA_VERSION="11.0.2"\n')
    with pytest.raises(InputError, match=r"11\.0\.2"):
        ensure("toy")
    assert toy.calls() == 0


def test_a_jdk_without_a_compiler_is_refused(toy: ToyStack) -> None:
    (toy.base / "jdk" / "bin" / "javac").unlink()
    with pytest.raises(InputError, match="javac"):
        ensure("toy")


def test_our_own_jar_is_in_the_manifest_but_not_in_the_lock(
    toy: ToyStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = Recipe("toy", "1.0", toy.recipe.directory, built="toy-1.0.jar")
    monkeypatch.setitem(RECIPES, "toy", lambda _: built)
    manifest = json.loads((ensure("toy").home / "manifest.json").read_text())
    assert [jar["name"] for jar in manifest["jars"]] == ["a-1.jar", "b-2.jar", "toy-1.0.jar"]
    assert manifest["jars"][0]["purl"] == "pkg:maven/org.toy/a-1@1?type=jar"
    assert manifest["jars"][2]["licences"] == ["Apache-2.0"]


def test_a_jar_is_compared_with_the_lock_before_anything_of_it_is_used(
    toy: ToyStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """javac reads the jars: it starts after the comparison."""
    compiler = f'#!/bin/sh\necho "$@" >> {toy.base}/compiled\n'
    executable(toy.base / "jdk" / "bin" / "javac", compiler)
    built = Recipe("toy", "1.0", toy.recipe.directory, built="toy-1.0.jar")
    monkeypatch.setitem(RECIPES, "toy", lambda _: built)
    (toy.repository / "b-2.jar").write_bytes(b"something else")
    with pytest.raises(InputError, match=r"b-2\.jar has SHA-256"):
        ensure("toy")
    (only,) = (toy.base / "compiled").read_text().splitlines()
    assert only.endswith("Jars.java")  # our extension of Maven


def test_a_maven_that_does_not_load_the_extension_is_refused(toy: ToyStack) -> None:
    maven = toy.base / "bin" / "mvn"
    maven.write_text(maven.read_text().replace("-Dstack.listing=*)", "-Dnothing=*)"))
    with pytest.raises(StudyError, match="did not load our extension"):
        ensure("toy")
    assert toy.leftovers() == []


@pytest.mark.parametrize("harm", ["truncate", "remove", "add", "manifest"])
def test_a_damaged_tree_is_reassembled(toy: ToyStack, harm: str) -> None:
    home = ensure("toy").home
    if harm == "truncate":
        (home / "lib" / "a-1.jar").write_bytes(b"a")
    elif harm == "remove":
        (home / "lib" / "a-1.jar").unlink()
    elif harm == "add":
        (home / "lib" / "z.jar").write_bytes(b"z")
    else:
        (home / "manifest.json").write_text('{"format": 1, "ja')
    assert ensure("toy").home == home
    assert toy.calls() == 2
    assert lock_of(home / "lib") == lock_of(toy.repository)


def test_remains_of_a_killed_assembly_do_no_harm(toy: ToyStack) -> None:
    home = stack_home("toy")
    torn = home.with_name(f".{home.name}.assembling") / "lib"
    torn.mkdir(parents=True)
    (torn / "torn.jar").write_bytes(b"half")
    assert lock_of(ensure("toy").home / "lib") == lock_of(toy.repository)
    assert toy.leftovers() == []


def test_only_one_of_many_threads_assembles(toy: ToyStack) -> None:
    (toy.base / "slow").touch()  # so that the others come meanwhile
    with ThreadPoolExecutor(8) as pool:
        stacks = set(pool.map(ensure, ["toy"] * 8))
    assert len(stacks) == 1
    assert toy.calls() == 1


def test_only_one_of_several_processes_assembles(toy: ToyStack) -> None:
    script = textwrap.dedent(f"""
        from pathlib import Path
        from density_study.cluster.stack.recipe import Recipe
        from density_study.cluster.stack.recipes import RECIPES
        from density_study.cluster.stack.stack import ensure
        toy = Recipe("toy", "1.0", Path({str(toy.recipe.directory)!r}))
        RECIPES["toy"] = lambda _: toy
        print(ensure("toy").home)
    """)
    (toy.base / "slow").touch()
    argv, root = [sys.executable, "-c", script], Path(__file__).parents[4]
    children = [
        subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root)
        for _ in range(3)
    ]
    homes = {child.communicate(timeout=30)[0] for child in children}
    assert len(homes) == 1
    assert homes != {""}
    assert toy.calls() == 1


def test_ensure_all_keeps_the_requested_order(
    toy: ToyStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = Recipe("twin", "2.0", toy.recipe.directory)
    monkeypatch.setitem(RECIPES, "twin", lambda _: twin)
    assert [stack.name for stack in ensure_all(["twin", "toy"])] == ["twin", "toy"]


def test_an_unknown_stack_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="hadop") as refused:
        ensure("hadop")
    assert "hadoop, hbase, ycsb" in refused.value.remedy


@pytest.mark.parametrize(
    ("environ", "root"),
    [
        ({"DENSITY_STUDY_CACHE": "/c", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/c/stacks"),
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/density-study/stacks"),
        ({"HOME": "/h"}, "/h/.cache/density-study/stacks"),
    ],
)
def test_cache_location(
    environ: dict[str, str], root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DENSITY_STUDY_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert str(stack_home("hadoop").parent) == root


def test_the_command_prints_one_line_per_error_and_exits_with_2() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "density_study.cluster.stack", "ensure", "nosuch"],
        cwd=Path(__file__).parents[4],
        env={**os.environ, "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: stack: stack 'nosuch' does not exist.")
    assert done.stdout == ""
