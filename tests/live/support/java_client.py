"""Client JVMs for live tests: YCSB and the helper programs in the binding's test sources."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from density_study.cluster.stack import classpath, ensure, find_java

TEST_SOURCES = Path(__file__).parents[2] / "unit/workloads/ycsb/java/org/densitystudy/ycsb"
# The kernel ends each JVM with the test, even if the test is killed.
MORTAL = ("setpriv", "--pdeathsig", "KILL", "--")
YCSB = "site.ycsb.Client"


def compiled(
    folder: Path, *names: str, within: Path = TEST_SOURCES, stack: str = "ycsb"
) -> list[str]:
    """The stack's class path with these classes in front; by default of the binding's test sources."""
    path = classpath(ensure(stack))
    classes = folder / "classes"
    javac = find_java().command.with_name("javac")
    sources = [str(within / f"{name}.java") for name in names]
    subprocess.run(
        [str(javac), "-nowarn", "-proc:none", "-cp", ":".join(path), "-d", str(classes), *sources],
        check=True,
    )
    return [str(classes), *path]


def java_argv(path: Sequence[str], main: str, *words: str) -> list[str]:
    return [
        *MORTAL,
        str(find_java().command),
        "-XX:+UseSerialGC",
        "-cp",
        ":".join(path),
        main,
        *words,
    ]


def instead(words: Sequence[str], option: str, value: str) -> list[str]:
    """`words` with the word after `option` replaced."""
    place = list(words).index(option) + 1
    return [*words[:place], value, *words[place + 1 :]]
