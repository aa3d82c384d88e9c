"""Whether a secret shows: in files, or in the command lines of any process while a study runs."""

from __future__ import annotations

import base64
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.repeating import repeating


class Watch:
    """`argv`: every command line seen. `tokens`: passwords of the delegation tokens that containers got,
    `tickets`: ends of ticket caches, both by file."""

    def __init__(self) -> None:
        self.argv: set[bytes] = set()
        self.tokens: dict[str, bytes] = {}
        self.tickets: dict[str, bytes] = {}

    def look(self, containers: Path, caches: Path) -> None:
        """Files and processes come and go meanwhile: what is gone, or half written, is left out."""
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                self.argv.add(path.read_bytes())
        with suppress(OSError):
            for path in (*containers.rglob("container_tokens"), *containers.rglob("*.tokens")):
                with suppress(OSError, ValueError):
                    for number, password in enumerate(passwords(path.read_bytes())):
                        self.tokens[f"{path.parent.name}/{path.name} {number}"] = password
        with suppress(OSError):
            for path in caches.rglob("krb5cc"):
                cache = path.read_bytes()
                self.tickets[str(path)] = cache[-96:-32]  # of the last ticket


@contextmanager
def watching(containers: Path, caches: Path, every_s: float = 0.1) -> Iterator[Watch]:
    watch = Watch()
    with repeating(lambda: watch.look(containers, caches), every_s):
        yield watch


def leaks(secrets: Mapping[str, bytes], texts: Iterable[tuple[str, bytes]]) -> list[str]:
    """Which secret is where: as it is, in hexadecimal digits, or in Base64."""
    wanted = {name: _forms(secret) for name, secret in secrets.items()}
    return [
        f"{name} in {where}"
        for where, text in texts
        for name, forms in wanted.items()
        if any(form in text for form in forms)
    ]


def files(*folders: Path) -> Iterator[tuple[str, bytes]]:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                yield str(path), path.read_bytes()


def keys(keytab: Path) -> dict[str, bytes]:
    """The keys in a keytab."""
    said = subprocess.run(
        ["klist", "-K", "-k", str(keytab)], capture_output=True, text=True, check=True
    )
    found = re.findall(r"\(0x([0-9a-f]+)\)", said.stdout)
    assert found, said.stdout
    return {f"key {number}": bytes.fromhex(digits) for number, digits in enumerate(found)}


def passwords(tokens: bytes) -> list[bytes]:
    """Those of Hadoop's credentials file, format 0."""
    if tokens[:5] != b"HDTS\0":
        raise ValueError(f"no credentials of format 0: {tokens[:5]!r}")
    reader = _Reader(tokens[5:])
    found = []
    for _ in range(reader.number()):
        reader.bytes()  # alias
        reader.bytes()  # identifier
        found.append(reader.bytes())
        reader.bytes()  # kind
        reader.bytes()  # service
    return [password for password in found if password]


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def number(self) -> int:
        """Hadoop's WritableUtils.readVInt, of numbers that are not negative."""
        (first,) = self._take(1)
        if first < 128:
            return first
        return int.from_bytes(self._take(256 - first - 112), "big")

    def bytes(self) -> bytes:
        return self._take(self.number())

    def _take(self, count: int) -> bytes:
        self._at += count
        return self._data[self._at - count : self._at]


def _forms(secret: bytes) -> tuple[bytes, ...]:
    # whole groups of three bytes, at each of their three places
    encoded = tuple(base64.b64encode(secret[n : n + (len(secret) - n) // 3 * 3]) for n in range(3))
    url_safe = tuple(text.translate(bytes.maketrans(b"+/", b"-_")) for text in encoded)
    return (secret, secret.hex().encode(), *encoded, *url_safe)
