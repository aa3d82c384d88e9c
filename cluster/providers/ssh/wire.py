"""Messages between the controller and a host's agent: four bytes of length, then JSON.

Each end names the longest message that it accepts, so what the other end declares is never believed. Standard
library only: it runs on hosts too.
"""

from __future__ import annotations

import json
from typing import IO, Any

_LENGTH_BYTES = 4


class WireError(Exception):
    """What came is not a message. The rest of the stream cannot be understood."""


def send(stream: IO[bytes], value: Any) -> None:
    """ValueError or TypeError, with nothing sent, for a value that JSON cannot hold."""
    content = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    stream.write(len(content).to_bytes(_LENGTH_BYTES, "big") + content)
    stream.flush()


def receive(stream: IO[bytes], limit_bytes: int) -> Any:
    """The next message. EOFError at the end of the stream, WireError for anything but a message."""
    length = int.from_bytes(_exactly(stream, _LENGTH_BYTES), "big")
    if length > limit_bytes:
        raise WireError(f"a message of {length} bytes; at most {limit_bytes} are accepted")
    content = _exactly(stream, length)
    try:
        value = json.loads(content.decode(), parse_constant=_refuse, parse_float=_finite)
        if b"\\u" in content:  # half a surrogate pair could be written to no file
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise WireError(f"a message that is not JSON: {str(error)[:100]}") from error
    return value


def _exactly(stream: IO[bytes], length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content


def _finite(text: str) -> float:
    number = float(text)
    return _refuse(text) if number in (float("inf"), float("-inf")) else number


def _refuse(text: str) -> float:
    raise ValueError(f"{text[:20]} is not a finite number")
