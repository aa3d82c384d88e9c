"""A host that lies: it speaks as the agent does, and answers what a test tells it to.

    python -I -S hostile.py WIRE LIES

Runs in the place of `ssh`. WIRE is the file of the module `wire`. LIES is a JSON file: the name of a request
and what to do instead of answering it. Other requests are answered with null. Standard library only, so that
it starts in an instant.
"""

from __future__ import annotations

import json
import sys
import time
from base64 import b64encode
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import IO, Any

ENDLESS = 2**16
CHUNK_BYTES = 2**21
"""Of a file, for which the controller asks at once."""


def main(wire_file: str, lies_file: str) -> None:
    wire: Any = SourceFileLoader("wire", wire_file).load_module()
    lies: dict[str, Any] = json.loads(Path(lies_file).read_text())
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    size, _ = requests.readline().split()
    requests.read(int(size))
    if "greeting" in lies:
        tell(wire, answers, 0, lies["greeting"])
    wire.send(answers, {"number": 0, "ok": None})
    while True:
        request = wire.receive(requests, 2**28)
        if request:
            number, verb, *arguments = request
            name = arguments[0] if verb == "act" else verb
            tell(wire, answers, number, lies.get(name, {"say": {"ok": None}}))


def tell(wire: Any, answers: IO[bytes], number: int, lie: dict[str, Any]) -> None:
    """`say`: an answer. `bytes`: text sent as it is, and `repeat`: another one for ever. `number`: of
    another request, counted from this one. `times`: how often the answer is sent. `late`: seconds of silence
    first. `drip`: bytes, one at a time. `file`: a part of a file that never ends."""
    time.sleep(lie.get("late", 0.0))
    if "bytes" in lie:
        content = lie["bytes"].encode("latin-1")
        answers.write(content)
        answers.flush()
        while "repeat" in lie:
            answers.write(lie["repeat"].encode("latin-1") * ENDLESS)
    if "drip" in lie:
        for byte in bytes.fromhex(lie["drip"]):
            answers.write(bytes([byte]))
            answers.flush()
            time.sleep(0.05)
    if "say" in lie:
        for _ in range(lie.get("times", 1)):
            wire.send(answers, {"number": number + lie.get("number", 0), **lie["say"]})
    if "file" in lie:
        wire.send(answers, {"number": number, "ok": b64encode(bytes(CHUNK_BYTES)).decode()})


if __name__ == "__main__":
    main(*sys.argv[1:3])
