"""`Kept`: what earlier pages of the hub were made of, in a file beside the hub.

Each line is the digest of all that a value depends on, a signature, and the value as JSON. A digest that
changed finds nothing, so a line is never wrong, only unused. The next file lacks unused lines.

Values become parts of the page as they are, and a folder of runs may come from others: a line counts only if
this user wrote it.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from density_study import analysis
from density_study.cluster.model.errors import StudyError
from density_study.cluster.state import atomic
from density_study.cluster.state.own_runs import own_secret
from density_study.cluster.state.plain_file import read_plain
from density_study.workloads.study.metrics import main_rates

KEPT = ".index.kept"
"""The file's name in the folder of all runs."""
_MOST_BYTES = 2**31


class Kept:
    """Without a path, and if the file cannot be read: nothing."""

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._secret = path, _secret() if path else b""
        self._before = dict(_lines(path)) if path else {}
        self._now: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        """The value under this key, which is kept further; None: there is none."""
        found = self._before.get(key, "")
        signature, _, value = found.partition(" ")
        if not compare_digest(signature.encode(), self._signature(key, value)):
            return None
        self._now[key] = found
        return value

    def put(self, key: str, value: str) -> None:
        """value: JSON without line breaks."""
        self._now[key] = f"{self._signature(key, value).decode()} {value}"

    def _signature(self, key: str, value: str) -> bytes:
        text = f"{key} {value}".encode("utf-8", "surrogatepass")
        return hmac.new(self._secret, text, "sha256").hexdigest().encode()

    def write(self) -> None:
        """All that was got or put. OSError if it cannot be written."""
        if self._path and self._now != self._before:
            text = "".join(f"{key} {value}\n" for key, value in self._now.items())
            atomic.write_text(self._path, text)


def _secret() -> bytes:
    """This user's; of this process alone, where there is no place for one: nothing is kept then."""
    try:
        return own_secret()
    except (StudyError, OSError):
        return os.urandom(32)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    try:
        text = read_plain(path, _MOST_BYTES).decode()
    except (OSError, ValueError):
        return
    for line in text.split("\n"):
        key, _, value = line.partition(" ")
        yield key, value


def digest(*parts: object) -> str:
    """A key for what depends on `parts`, and on the program itself."""
    return sha256(json.dumps((_program(), *parts)).encode()).hexdigest()


def status(path: Path) -> tuple[int, ...] | None:
    """Changes with the file, also where its size and time were put back; None: there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns,
            found.st_ctime_ns)  # fmt: skip


@cache
def _program() -> str:
    """Digest of the code and templates that the hub's numbers and pages come from."""
    (root,) = map(Path, analysis.__path__)
    found = sha256(json.dumps(main_rates()).encode())
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        for name in sorted(names):
            found.update(Path(folder, name).read_bytes())
    return found.hexdigest()
