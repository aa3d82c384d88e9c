"""The jars that we build ourselves: sources compiled by javac against locked jars, and their unit tests.

No Maven, no plug-in, and no annotation processor takes part: only the JDK.
"""

from __future__ import annotations

import subprocess
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from density_study.cluster.model.errors import StudyError
from density_study.cluster.stack.java import Java
from density_study.cluster.stack.lock import check, lock_of
from density_study.cluster.stack.maven import WITH_TESTS, download, find_maven
from density_study.cluster.stack.recipe import Recipe

_RELEASE = "17"
# path and classfile speak of jars that are not ours.
_LINT = ("-Xlint:all,-path,-classfile", "-Werror", "-proc:none", "-encoding", "UTF-8")
_WHEN = (2026, 1, 1, 0, 0, 0)
"""The same sources give the same bytes."""
_TESTER = "org.junit.platform.console.ConsoleLauncher"


def write_jar(recipe: Recipe, java: Java, library: Path, scratch: Path) -> None:
    """Compile the recipe's sources against `library`, and add the jar to it. StudyError if javac fails."""
    assert recipe.built is not None
    classes = scratch / "classes"
    _compile(java, recipe.sources, [library], classes)
    with zipfile.ZipFile(library / recipe.built, "w", zipfile.ZIP_DEFLATED) as jar:
        _add(jar, "META-INF/MANIFEST.MF", b"Manifest-Version: 1.0\r\n\r\n")
        for file in sorted(classes.rglob("*.class")):
            _add(jar, file.relative_to(classes).as_posix(), file.read_bytes())


def test_jar(recipe: Recipe, java: Java) -> None:
    """Compile, lint and test the recipe's sources, by locked jars. StudyError if a test fails."""
    with tempfile.TemporaryDirectory(prefix="stack-test-") as folder:
        scratch = Path(folder)
        library, classes = scratch / "lib", scratch / "classes"
        maven = find_maven(recipe.name)
        download(maven, java, recipe.pom, library, scratch / "build", recipe.properties, WITH_TESTS)
        check(lock_of(library), recipe, tests=True)
        _compile(java, recipe.sources, [library], classes)
        _compile(java, sorted(recipe.tests.rglob("*.java")), [library, classes], scratch / "tests")
        path = f"{library}/*:{classes}:{scratch / 'tests'}"
        _java(
            java, "java", "-XX:-UsePerfData", "-cp", path, _TESTER, "execute",
            f"--scan-classpath={scratch / 'tests'}", "--fail-if-no-tests", "--details=none",
            "--disable-ansi-colors",
        )  # fmt: skip


def _compile(java: Java, sources: Iterable[Path], path: Sequence[Path], classes: Path) -> None:
    jars = ":".join(f"{folder}/*:{folder}" for folder in path)
    files = map(str, sources)
    _java(java, "javac", "--release", _RELEASE, *_LINT, "-cp", jars, "-d", str(classes), *files)


def _java(java: Java, program: str, *arguments: str) -> None:
    argv = [str(java.home / "bin" / program), *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        said = (done.stderr + done.stdout).strip()[-4000:]
        raise StudyError(
            f"{program} ended with exit code {done.returncode}:\n{said}\n",
            "our own Java sources",
            "correct what it names.",
        )


def _add(jar: zipfile.ZipFile, name: str, content: bytes) -> None:
    jar.writestr(zipfile.ZipInfo(name, _WHEN), content, zipfile.ZIP_DEFLATED)
