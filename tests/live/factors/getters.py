"""With which methods of Hadoop's Configuration the code of some jars reads each property."""

from __future__ import annotations

import re
import struct
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

Pool = list[tuple[int, bytes] | None]
"""Tag and content of each constant (The Java Virtual Machine Specification, 4.4)."""
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4,
          19: 2, 20: 2}  # fmt: skip
_OPERANDS = {
    **dict.fromkeys((16, 18, *range(21, 26), *range(54, 59), 169, 188), 1),
    **dict.fromkeys((17, 19, 20, 132, *range(153, 169), *range(178, 185), 187, 189, 192, 193, 198, 199), 2),
    **{197: 3, 185: 4, 186: 4, 200: 4, 201: 4},
}  # fmt: skip
"""Bytes after an instruction; 0 for all others but the switches."""
_LDC, _LDC_W, _TABLESWITCH, _LOOKUPSWITCH, _WIDE, _IINC = 18, 19, 170, 171, 196, 132
_CALLS = (182, 183, 184, 185)
_NEAR = 7
"""Between the name and the call are the instructions that put the default on the stack."""


def getters_in(jars: list[Path]) -> Mapping[str, frozenset[str]]:
    """Property -> methods, such as getInt, to which its name is passed."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in jars:
        with zipfile.ZipFile(path) as jar:
            for entry in jar.namelist():
                data = jar.read(entry) if entry.endswith(".class") else b""
                if re.search(rb"get(Int|Long|Float|Double|Boolean|Time|Storage)", data):
                    for name, method in _in_class(data):
                        found[name].add(method)
    return {name: frozenset(methods) for name, methods in found.items()}


def _u2(data: bytes, at: int = 0) -> int:
    return int.from_bytes(data[at : at + 2], "big")


def _u4(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "big")


def _pool(data: bytes) -> tuple[Pool, int]:
    """The constants, and where they end."""
    pool: Pool = [None] * _u2(data, 8)
    at, index = 10, 1
    while index < len(pool):
        tag = data[at]
        size = _u2(data, at + 1) if tag == 1 else _SIZES[tag]
        begin = at + 3 if tag == 1 else at + 1
        pool[index] = (tag, data[begin : begin + size])
        at, index = begin + size, index + (2 if tag in (5, 6) else 1)
    return pool, at


def _in_class(data: bytes) -> Iterator[tuple[str, str]]:
    pool, at = _pool(data)

    def text(index: int) -> str:
        return (pool[index] or (0, b""))[1].decode(errors="replace")

    methods: dict[int, str] = {}
    texts: dict[int, str] = {}
    for index, constant in enumerate(pool):
        if constant and constant[0] in (10, 11):
            name_and_type = (pool[_u2(constant[1], 2)] or (0, b""))[1]
            name, form = text(_u2(name_and_type)), text(_u2(name_and_type, 2))
            if name.startswith("get") and form.startswith("(Ljava/lang/String;"):
                methods[index] = name
        elif constant and constant[0] == 8:
            texts[index] = text(_u2(constant[1]))
    at += 8 + 2 * _u2(data, at + 6)
    for _ in ("fields", "methods"):
        members, at = _u2(data, at), at + 2
        for _ in range(members):
            attributes, at = _u2(data, at + 6), at + 8
            for _ in range(attributes):
                length = _u4(data, at + 2)
                if text(_u2(data, at)) == "Code":
                    code = data[at + 14 : at + 14 + _u4(data, at + 10)]
                    yield from _in_code(code, methods, texts)
                at += 6 + length


def _in_code(
    code: bytes, methods: Mapping[int, str], texts: Mapping[int, str]
) -> Iterator[tuple[str, str]]:
    at, name, since = 0, "", 0
    while at < len(code):
        instruction = code[at]
        if instruction in (_LDC, _LDC_W):
            index = code[at + 1] if instruction == _LDC else _u2(code, at + 1)
            if re.fullmatch(r"[a-z][\w-]*(\.[\w-]+)+", texts.get(index, "")):
                name, since = texts[index], 0
        elif instruction in _CALLS:
            method = methods.get(_u2(code, at + 1))
            if method and name and since < _NEAR:
                yield name, method
            if method or since > 1:
                name = ""
        since += 1
        if instruction in (_TABLESWITCH, _LOOKUPSWITCH):
            table = (at + 4) & ~3
            if instruction == _TABLESWITCH:
                low, high = struct.unpack(">ii", code[table + 4 : table + 12])
                at = table + 12 + 4 * (high - low + 1)
            else:
                at = table + 8 + 8 * _u4(code, table + 4)
        elif instruction == _WIDE:
            at += 6 if code[at + 1] == _IINC else 4
        else:
            at += 1 + _OPERANDS.get(instruction, 0)
