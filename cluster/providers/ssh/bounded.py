"""Programs whose output comes from a host: bounded in bytes and in time."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import IO

MAX_OUTPUT_BYTES = 8 * 2**20


class TooMuchError(Exception):
    """The program printed more than is accepted. It was killed."""


def run_bounded(
    argv: Sequence[str], timeout_s: float, stdin: str = "", limit_bytes: int = MAX_OUTPUT_BYTES
) -> subprocess.CompletedProcess[str]:
    """`bounded_bytes`, with its output as text."""
    done = bounded_bytes(argv, timeout_s, stdin, limit_bytes, None)
    texts = (content.decode(errors="replace") for content in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(argv, done.returncode, *texts)


def bounded_bytes(
    argv: Sequence[str],
    timeout_s: float,
    stdin: str,
    limit_bytes: int,
    environ: Mapping[str, str] | None,
) -> subprocess.CompletedProcess[bytes]:
    """Run `argv` and return its exit code and output. TooMuchError for more than `limit_bytes` of output,
    subprocess.TimeoutExpired after `timeout_s`; in both cases the program and its children are killed."""
    child = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
        start_new_session=True,
    )
    assert child.stdin and child.stdout and child.stderr
    late = threading.Event()

    def end() -> None:
        late.set()
        _kill(child)

    limit = threading.Timer(timeout_s, end)
    limit.start()
    errors = _Reader(child, child.stderr, limit_bytes)
    writer = threading.Thread(target=_write, args=(child.stdin, stdin.encode()), daemon=True)
    try:
        errors.start()
        writer.start()
        output = _read(child, child.stdout, limit_bytes)
        errors.join()
        code = child.wait()
    finally:
        _kill(child)
        child.wait()
        limit.cancel()
        writer.join()
        for stream in (child.stdout, child.stderr):
            stream.close()
    if late.is_set():
        raise subprocess.TimeoutExpired(argv, timeout_s)
    if max(len(output), len(errors.content)) > limit_bytes:
        raise TooMuchError
    return subprocess.CompletedProcess(argv, code, output, errors.content)


class _Reader(threading.Thread):
    def __init__(self, child: subprocess.Popen[bytes], stream: IO[bytes], limit: int) -> None:
        super().__init__(daemon=True)
        self._given = child, stream, limit
        self.content = b""

    def run(self) -> None:
        self.content = _read(*self._given)


def _read(child: subprocess.Popen[bytes], stream: IO[bytes], limit_bytes: int) -> bytes:
    """All of it, or a byte more than the limit; then the program is killed."""
    content = stream.read(limit_bytes + 1)
    if len(content) > limit_bytes:
        _kill(child)
    return content


def _write(stream: IO[bytes], content: bytes) -> None:
    with contextlib.suppress(OSError):  # it may end without reading
        stream.write(content)
    with contextlib.suppress(OSError):
        stream.close()


def _kill(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
