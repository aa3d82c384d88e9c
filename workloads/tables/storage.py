"""Where a run's records and tables lie: a folder of this machine, or a URI that fsspec and Spark know."""

from __future__ import annotations

import getpass
import glob
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from density_study.cluster.model.errors import InputError
from density_study.cluster.state.plain_file import read_below

NAMENODES = "DENSITY_STUDY_NAMENODES"
"""A variable of the environment: "127.0.0.1:9000=127.0.0.1:9870", a NameNode's address of RPC and of HTTP, as
many as there are with commas between. Python reads hdfs:// of these over WebHDFS, which needs no native
library; of any other by fsspec's own, which does."""
_COPIES_AT_ONCE = 8
_BYTES_AT_ONCE = 2**20


def place(text: str) -> Path:
    """A path, or what behaves like one for a URI (hdfs://..., s3a://...)."""
    return Path(text) if "://" not in text else cast(Path, UriPath(text))


def is_local(path: Path) -> bool:
    return "://" not in str(path)


def read_of_others(path: Path, most_bytes: int, folders: int = 1) -> bytes:
    """The content of a file that others may have made: on this machine a plain file of at most `most_bytes`,
    and this number of folders above it are no links. OSError, of which NotPlainError is one."""
    if not is_local(path):
        return path.read_bytes()
    above = path.parents[folders]
    return read_below(above, path.relative_to(above), most_bytes)


def _uri(path: Path) -> UriPath | None:
    """The path, where `place` made it of a URI."""
    found: object = path
    return found if isinstance(found, UriPath) else None


def expanded(pattern: str) -> list[Path]:
    """The plain files that a pattern names (`*`, `?`, `[...]`, `**`), or that lie in the folder it names."""
    fixed, rest = [], pattern.split("/")
    while rest and not glob.has_magic(rest[0]):
        fixed.append(rest.pop(0))
    root = place("/".join(fixed) or ("/" if pattern.startswith("/") else "."))
    if not rest and root.is_file():
        return [root]
    return [path for path in sorted(root.glob("/".join(rest) or "*")) if path.is_file()]


def remove(folder: Path) -> None:
    """A folder with all that is in it, if it is there."""
    if uri := _uri(folder):
        uri.remove()
    elif folder.exists():
        shutil.rmtree(folder)


def arrow_source(path: Path) -> tuple[str, Any]:
    """What Arrow's readers take: a location, and its filesystem (None: this machine's)."""
    if uri := _uri(path):
        return uri.path, uri.filesystem
    return str(path), None


def file_sizes(folder: Path) -> dict[str, int]:
    """Bytes of every plain file below `folder`, by its path within; none if it is not there."""
    if uri := _uri(folder):
        return {name: info.st_size for name, info in uri.files().items()}
    infos = {path.relative_to(folder).as_posix(): path.lstat() for path in folder.rglob("*")}
    return {name: info.st_size for name, info in infos.items() if stat.S_ISREG(info.st_mode)}


def listed(folder: Path) -> dict[str, tuple[Path, FileStat]] | None:
    """Every file below the URI `folder` by its path within, in one listing; None for a local folder."""
    if uri := _uri(folder):
        return {name: (folder / name, info) for name, info in uri.files().items()}
    return None


def copy_missing(source: Path, to: Path) -> int:
    """Copy the files below the local folder `source` that `to` lacks or has in another size. How many."""
    there = file_sizes(to)
    missing = [name for name, size in file_sizes(source).items() if there.get(name) != size]
    for folder in sorted({(to / name).parent for name in missing}):
        folder.mkdir(parents=True, exist_ok=True)

    def copy(name: str) -> None:
        with (source / name).open("rb") as read, (to / name).open("wb") as written:
            shutil.copyfileobj(read, written, _BYTES_AT_ONCE)

    with ThreadPoolExecutor(_COPIES_AT_ONCE) as pool:
        list(pool.map(copy, missing))
    return len(missing)


@dataclass(frozen=True)
class FileStat:
    st_size: int
    st_mtime_ns: int


class UriPath:
    """As much of `pathlib.Path` as the analysis uses, of a URI. Errors are of the OSError family."""

    def __init__(self, uri: str) -> None:
        scheme, _, rest = uri.partition("://")
        authority, slash, path = rest.partition("/")
        self._base = f"{scheme}://{authority}"
        self._pure = PurePosixPath(slash + path)

    @property
    def filesystem(self) -> Any:
        return _filesystem(self._base)

    @property
    def path(self) -> str:
        """As the filesystem names it, without protocol (of an object store: with the bucket)."""
        return str(self.filesystem._strip_protocol(str(self)))

    @property
    def name(self) -> str:
        return self._pure.name

    @property
    def parent(self) -> UriPath:
        return self._at(self._pure.parent)

    def __truediv__(self, name: str | PurePosixPath) -> UriPath:
        return self._at(self._pure / name)

    def with_name(self, name: str) -> UriPath:
        return self._at(self._pure.with_name(name))

    def relative_to(self, other: UriPath) -> PurePosixPath:
        return self._pure.relative_to(other._pure)

    def absolute(self) -> UriPath:
        return self

    def __str__(self) -> str:
        return f"{self._base}{self._pure}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UriPath) and str(self) == str(other)

    def __lt__(self, other: UriPath) -> bool:
        return str(self) < str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def exists(self) -> bool:
        return bool(self.filesystem.exists(self.path))

    def is_dir(self) -> bool:
        return bool(self.filesystem.isdir(self.path))

    def is_file(self) -> bool:
        return bool(self.filesystem.isfile(self.path))

    def is_symlink(self) -> bool:
        return False

    def stat(self) -> FileStat:
        return _stat(self.filesystem.info(self.path))

    def glob(self, pattern: str) -> Iterator[UriPath]:
        self.filesystem.invalidate_cache()
        for found in sorted(self.filesystem.glob(f"{self.path}/{pattern}")):
            yield self._named(found)

    def files(self) -> dict[str, FileStat]:
        """Every file below this folder, by its path within; none if it is not there."""
        self.filesystem.invalidate_cache()
        if not self.exists():
            return {}
        files = self.filesystem.find(self.path, detail=True)
        return {
            str(self._named(name).relative_to(self)): _stat(info) for name, info in files.items()
        }

    def open(self, mode: str = "rb") -> IO[bytes]:
        return cast(IO[bytes], self.filesystem.open(self.path, mode))

    def read_bytes(self) -> bytes:
        with self.open() as stream:
            return stream.read()

    def read_text(self, encoding: str = "utf-8") -> str:
        return self.read_bytes().decode(encoding)

    def write_text(self, text: str, encoding: str = "utf-8") -> None:
        with self.open("wb") as stream:
            stream.write(text.encode(encoding))

    def mkdir(self, parents: bool = False, exist_ok: bool = False) -> None:
        self.filesystem.makedirs(self.path, exist_ok=exist_ok)

    def rename(self, target: UriPath) -> UriPath:
        """OSError unless it then has that name: WebHDFS answers a rename it refuses with success."""
        if target.exists():
            raise FileExistsError(f"there is something of that name: {target}")
        self.filesystem.mv(self.path, target.path, recursive=True)
        self.filesystem.invalidate_cache()
        if not target.exists():
            raise OSError(f"it could not be renamed to {target}")
        return target

    def unlink(self, missing_ok: bool = False) -> None:
        if self.exists():
            self.filesystem.rm(self.path)
        elif not missing_ok:
            raise FileNotFoundError(str(self))

    def remove(self) -> None:
        if self.exists():
            self.filesystem.rm(self.path, recursive=True)

    def _named(self, name: str) -> UriPath:
        """What the filesystem lists, as a URI below the same base."""
        full = str(self.filesystem._strip_protocol(self._base + "/"))
        return self._at(PurePosixPath("/" + name.removeprefix(full.rstrip("/")).lstrip("/")))

    def _at(self, pure: PurePosixPath) -> UriPath:
        return UriPath(f"{self._base}{pure}")


def _stat(info: Mapping[str, Any]) -> FileStat:
    return FileStat(int(info["size"]), int(info.get("modificationTime", 0)) * 1_000_000)


@lru_cache
def _filesystem(base: str) -> Any:
    """What fsspec has for the scheme. InputError if it has nothing, or misses a package."""
    import fsspec

    scheme, _, authority = base.partition("://")
    pairs = [pair.partition("=") for pair in os.environ.get(NAMENODES, "").split(",") if pair]
    web_addresses = {rpc: http for rpc, _, http in pairs}
    if scheme == "hdfs" and authority in web_addresses:
        host, _, port = web_addresses[authority].rpartition(":")
        return fsspec.filesystem("webhdfs", host=host, port=int(port), user=getpass.getuser())
    try:
        return fsspec.core.url_to_fs(base + "/")[0]
    except (ImportError, ValueError) as error:
        raise InputError(
            f"Python cannot read this kind of place: {error}.",
            base,
            "install the package that fsspec has for it (s3a://: s3fs, gs://: gcsfs, abfs://: adlfs).",
        ) from error
