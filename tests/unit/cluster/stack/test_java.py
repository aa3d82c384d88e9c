"""`find_java`: JAVA_HOME before PATH, 17 or 21 and nothing else, and errors that name what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.stack import java
from density_study.cluster.stack.java import Java, check_home, fault_of, find_java


def make_java(home: Path, version: str, release: bool = True) -> Path:
    """An installed Java home; without a release file, its java prints the version."""
    (home / "bin").mkdir(parents=True)
    command = home / "bin" / "java"
    command.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    command.chmod(0o755)
    if release:
        (home / "release").write_text(f'IMPLEMENTOR="Debian"\nJAVA_VERSION="{version}"\n')
    return home


def test_java_home_precedes_path(tmp_path: Path) -> None:
    home = make_java(tmp_path / "home", "17.0.15")
    other = make_java(tmp_path / "other", "17.0.1")
    java = find_java({"JAVA_HOME": str(home), "PATH": str(other / "bin")})
    assert java == Java(home, "17.0.15")
    assert java.command == home / "bin" / "java"


@pytest.mark.parametrize("version", ["17.0.15", "21.0.9", "21"])
def test_each_supported_version_is_taken(tmp_path: Path, version: str) -> None:
    home = make_java(tmp_path / "home", version)
    assert find_java({"JAVA_HOME": str(home)}) == Java(home, version)


def test_java_on_path_is_followed_to_its_home(tmp_path: Path) -> None:
    home = make_java(tmp_path / "jvm", "17.0.15")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    assert find_java({"PATH": str(tmp_path / "bin")}).home == home


def test_without_a_release_file_java_prints_its_version(tmp_path: Path) -> None:
    home = make_java(tmp_path, "17.0.2", release=False)
    assert find_java({"JAVA_HOME": str(home)}).version == "17.0.2"


@pytest.mark.parametrize(("version", "feature"), [("17", 17), ("17.0.15", 17), ("1.8.0_392", 8)])
def test_feature_is_the_common_version_number(version: str, feature: int) -> None:
    assert Java(Path("/"), version).feature == feature


def test_the_java_of_hosts_daemons_may_be_any_release_since_17(tmp_path: Path) -> None:
    check_home(str(make_java(tmp_path / "newest", "25.0.3")))
    with pytest.raises(InputError, match="holds Java 11"):
        check_home(str(make_java(tmp_path / "old", "11.0.22")))


@pytest.mark.parametrize("version", ["11.0.22", "1.8.0_392", "22.0.1", "24"])
def test_another_version_is_refused_even_if_path_has_the_right_one(
    tmp_path: Path, version: str
) -> None:
    wrong = make_java(tmp_path / "wrong", version)
    right = make_java(tmp_path / "right", "17.0.15")
    with pytest.raises(InputError) as refused:
        find_java({"JAVA_HOME": str(wrong), "PATH": str(right / "bin")})
    assert refused.value.where == "JAVA_HOME"
    assert version in refused.value.what
    assert "JDK 17 or 21" in refused.value.remedy


@pytest.mark.parametrize("environ", [{"PATH": ""}, {}, {"JAVA_HOME": "/no/such/java"}])
def test_no_java_is_an_input_error(environ: dict[str, str]) -> None:
    with pytest.raises(InputError) as refused:
        find_java(environ)
    assert refused.value.where in ("PATH", "JAVA_HOME")


def test_a_java_without_a_version_is_refused(tmp_path: Path) -> None:
    home = make_java(tmp_path, "17")
    (home / "release").write_text("nothing of use\n")
    with pytest.raises(InputError, match="cannot be determined"):
        find_java({"JAVA_HOME": str(home)})


def test_a_runtime_without_a_compiler_is_recognised(tmp_path: Path) -> None:
    home = make_java(tmp_path, "17")
    assert not Java(home, "17").has_compiler
    (home / "bin" / "javac").symlink_to(home / "bin" / "java")
    assert Java(home, "17").has_compiler


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """JDKs 17 and 25 in the usual folder, and a folder that is no JDK."""
    monkeypatch.setattr(java, "INSTALLED", tmp_path)
    make_java(tmp_path / "java-17", "17.0.15")
    make_java(tmp_path / "temurin-25", "25.0.1")
    (tmp_path / "notes").mkdir()
    return tmp_path


def test_a_java_of_another_release_is_found_where_packages_install_it(installed: Path) -> None:
    assert find_java({}, feature=25) == Java(installed / "temurin-25", "25.0.1")
    own = make_java(installed.parent / "own", "17.0.2")
    assert find_java({"JAVA_HOME": str(own)}, feature=17).home == own
    assert find_java({"JAVA_HOME": str(own)}, feature=25).home == installed / "temurin-25"


def test_a_release_that_is_not_installed_is_named_with_those_that_are(installed: Path) -> None:
    with pytest.raises(InputError, match="no JDK 21 is installed") as refused:
        find_java({}, feature=21)
    assert f"17.0.15 in {installed / 'java-17'}" in refused.value.what
    assert "openjdk-21-jdk-headless" in refused.value.remedy


@pytest.mark.parametrize(
    ("feature", "hadoop", "runs"),
    [(17, "3.3.6", True), (21, "3.4.2", True), (24, "3.4.10", False), (25, "3.5.0", True),
     (25, "3.10.0", True), (11, "3.5.0", False)],
)  # fmt: skip
def test_hadoop_needs_the_security_manager_until_3_5(feature: int, hadoop: str, runs: bool) -> None:
    assert (fault_of(feature, hadoop) == "") is runs
