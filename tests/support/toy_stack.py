"""`ToyStack`: a stack of two jars, with a fake Maven that delivers them and an empty cache."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from density_study.cluster.stack.lock import lock_of
from density_study.cluster.stack.recipe import Recipe
from density_study.cluster.stack.recipes import RECIPES

# A fake mvn copies the "repository" to -Dstack.lib, lists it, records each call; slow or failing on request.
FAKE_MAVEN = """\
#!/bin/sh
cd '{base}'
if [ "$1" = --version ]; then echo 'Maven home: {base}'; exit; fi
echo "$@" >> calls
if [ -e slow ]; then /bin/sleep 0.1; fi
for word; do
  case "$word" in
    -Dstack.lib=*) /bin/cp -r repository "${{word#*=}}" || exit 2 ;;
    -Dstack.listing=*) /bin/ls repository | while read -r jar; do
      printf '%s\torg.toy\t%s\t1\t\tToy Licence\n' "$jar" "${{jar%.jar}}"
    done >"${{word#*=}}" ;;
  esac
done
if [ -e fail ]; then
  echo "[INFO] downloading"
  echo "[ERROR] could not transfer artifact a:a:jar:1 from central"
  echo "[ERROR] -> [Help 1]"
  echo "[ERROR] see the wiki"
  exit 1
fi
"""


class ToyStack:
    """A recipe `toy` of two jars, a fake Maven that delivers them, and an empty cache."""

    def __init__(self, base: Path) -> None:
        self.base, self.repository = base, base / "repository"
        self.repository.mkdir()
        for name in ("a-1.jar", "b-2.jar"):
            (self.repository / name).write_bytes(name.encode() * 100)
        (base / "toy").mkdir()
        (base / "toy" / "pom.xml").write_text("<project/>")
        self.recipe = Recipe("toy", "1.0", base / "toy", webapps=("webapps/hdfs", "webapps/node"))
        self.recipe.lock.write_text(lock_of(self.repository).text())

    def calls(self) -> int:
        calls = self.base / "calls"
        return len(calls.read_text().splitlines()) if calls.exists() else 0

    def leftovers(self) -> list[str]:
        stacks = self.base / "cache" / "stacks"
        return [p.name for p in stacks.iterdir() if p.is_dir() and p.name.startswith(".")]


def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ToyStack:
    """The fixture's Maven, Java, cache and recipe replace the real ones."""
    toy_stack = ToyStack(tmp_path)
    executable(tmp_path / "bin" / "mvn", FAKE_MAVEN.format(base=tmp_path))
    for program in ("java", "javac"):
        executable(tmp_path / "jdk" / "bin" / program, "#!/bin/sh\n")
    (tmp_path / "jdk" / "release").write_text('JAVA_VERSION="17.0.15"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("DENSITY_STUDY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(RECIPES, "toy", lambda _: toy_stack.recipe)
    return toy_stack


def executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


LIBRARY = b"\x7fELF of Hadoop"
LINK = "libhadoop.so"
REAL = "libhadoop.so.1.0.0"


def _jar(text: bytes = b"<configuration/>") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("hdfs-default.xml", text)
    return stream.getvalue()


DEFAULTS = b"<configuration><property><name>dfs.x.enabled</name></property></configuration>"


def hadoop_tarball(
    folder: Path,
    defaults: bytes = DEFAULTS,
    library: bytes = LIBRARY,
    links: Mapping[str, str] = MappingProxyType({}),
) -> Path:
    """As Apache packs it, with a few of its jars, and further `links` among its libraries."""
    jars = {
        "common/hadoop-common-3.4.2.jar": _jar(),
        "common/hadoop-common-3.4.2-tests.jar": _jar(),
        "common/sources/hadoop-common-3.4.2-sources.jar": _jar(),
        "common/lib/guava-27.jar": _jar(),
        "hdfs/hadoop-hdfs-3.4.2.jar": _jar(defaults),
        "yarn/hadoop-yarn-server-resourcemanager-3.4.2.jar": _jar(),
        "mapreduce/hadoop-mapreduce-client-app-3.4.2.jar": _jar(),
        "mapreduce/run.sh": b"#!/bin/sh",
    }
    more = {f"share/hadoop/{name}": content for name, content in jars.items()}
    return native_tarball(folder, library, more=more, links=links)


def native_tarball(
    folder: Path,
    content: bytes = LIBRARY,
    link: str = LINK,
    more: Mapping[str, bytes] = MappingProxyType({}),
    links: Mapping[str, str] = MappingProxyType({}),
) -> Path:
    """As Apache packs it: one library, a link to it, and other files; with further `links`."""
    path = folder / "hadoop-3.4.2.tar.gz"
    files = {f"lib/native/{REAL}": content, "bin/hadoop": b"#!/bin/sh", **more}
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"hadoop-3.4.2/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        for name, to in {link: REAL, **links}.items():
            entry = tarfile.TarInfo(f"hadoop-3.4.2/lib/native/{name}")
            entry.type, entry.linkname = tarfile.SYMTYPE, to
            archive.addfile(entry)
    return path
