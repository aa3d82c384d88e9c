"""Reads YAML files: plain data within limits, or an InputError with file and line.

Plain data are mappings with text keys, lists, text, numbers, booleans and null. Tags and octal numbers are
rejected, dates and times read as text. An alias counts as everything it refers to, so that a small file
cannot expand into a large value.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from density_study.cluster.model.errors import InputError
from density_study.cluster.state.plain_file import why_unread

MAX_BYTES = 128 * 1024
MAX_DEPTH = 32
MAX_NODES = 10_000
MAX_TEXT = 16 * 1024
"""Characters of one value, such as a question. Most keys allow far fewer."""
MAX_NUMBER = 10**40
_STR, _MERGE, _DATE, _VALUE, _INT, _FLOAT = (
    f"tag:yaml.org,2002:{name}" for name in ("str", "merge", "timestamp", "value", "int", "float")
)

_OCTAL = re.compile(r"[+-]?0[0-7_]+")
_BASE_60 = r"(?!.*:)"


@dataclass(frozen=True)
class Document:
    """A value, and the lines of its parts. `name` denotes the file in messages."""

    name: str
    value: object
    root: yaml.Node | None

    def line_of(self, location: Sequence[object]) -> int:
        """Line (from 1) of the deepest part of `location` that the file contains."""
        line, node = 1, self.root
        for part in location:
            child = _child(node, part)
            if child is None:
                break
            line, node = child
        return line


def read_yaml(path: Path, *, recorded: bool = False) -> Document:
    """The document in `path`. InputError if it is not a regular file, too large, not UTF-8, or not YAML.

    recorded: read numbers as earlier versions did, which recorded the text: 010 is 8, 12:30 is 750."""
    return parse_yaml(read_text(path), str(path), recorded=recorded)


def parse_yaml(text: str, name: str, *, recorded: bool = False) -> Document:
    """As `read_yaml`, from text."""
    if len(text) > MAX_BYTES:
        raise _too_large(name)
    loader: _Loader | None = None
    try:
        loader = (_RecordedLoader if recorded else _Loader)(text)
        root = loader.get_single_node()
        value: object = None if root is None else loader.construct_document(root)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, int(error.position)) + 1
        problem = f"the character #x{int(error.character):02x} is not allowed"
        raise _not_yaml(problem, f"{name}:{line}") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{name}:{mark.line + 1}" if mark else name
        if isinstance(error, _Refusal):
            raise InputError(f"{error.problem}.", where, "correct the line.") from error
        raise _not_yaml(error.problem or error.context or "not YAML", where) from error
    except (ValueError, OverflowError) as error:  # for example the escape "\U00110000"
        line = loader.line + 1 if loader else 1
        raise _not_yaml("an escape names no character", f"{name}:{line}") from error
    return Document(name, value, root)


def read_text(path: Path) -> str:
    """Content of a regular file. Rejects pipes and devices without opening them: reading one may block."""
    where = str(path)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            remedy = "name a file, not a folder, pipe or device."
            raise InputError("this is not a regular file.", where, remedy)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise _too_large(where)
        return data.decode("utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError("the file does not exist.", where, "name a YAML file.") from error
    except (OSError, UnicodeDecodeError) as error:
        remedy = "name a readable UTF-8 file."
        raise InputError(f"the file cannot be read: {why_unread(error)}.", where, remedy) from error


def _too_large(name: str) -> InputError:
    what = f"the file is larger than {MAX_BYTES // 1024} KiB."
    return InputError(what, name, "name a YAML file of this project.")


def _not_yaml(problem: str, where: str) -> InputError:
    return InputError(f"the file is not valid YAML: {problem}.", where, "correct the line.")


class _Refusal(yaml.MarkedYAMLError):
    """Valid YAML that this project does not accept."""


class _Loader(yaml.SafeLoader):
    """Checks limits while it builds nodes, and so stops reading at the first violation."""

    takes_octal = False

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._nodes = 0
        self._anchored: dict[str, int | None] = {}
        """Nodes below each anchor, with aliases counted in full; None while the anchor is still open."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        anchor = event.anchor
        if isinstance(event, yaml.AliasEvent):
            self._count(self._anchored.get(anchor, 1), event)
            return super().compose_node(parent, index)
        if isinstance(event, yaml.ScalarEvent) and len(event.value) > MAX_TEXT:
            raise _fault(
                f"a value has {len(event.value):,} characters; at most {MAX_TEXT:,} are allowed",
                event,
            )
        if event.tag is not None:
            raise _fault(f"the tag {event.tag!r} is not allowed; write plain values", event)
        if self._depth == MAX_DEPTH:
            raise _fault(f"the file is nested more than {MAX_DEPTH} levels deep", event)
        before = self._nodes
        self._count(1, event)
        if anchor is not None:
            self._anchored[anchor] = None
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        if anchor is not None:
            self._anchored[anchor] = self._nodes - before
        return node

    def _count(self, nodes: int | None, event: Any) -> None:
        if nodes is None:
            raise _fault(f"the alias *{event.anchor} refers to a value that contains it", event)
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise _fault(
                f"the file has more than {MAX_NODES:,} values, with aliases counted in full", event
            )

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen: dict[str, int] = {}
        for key, _ in node.value:
            if key.tag not in (_STR, _MERGE):
                if not isinstance(key, yaml.ScalarNode):
                    raise _fault(f"a key that is a {key.id} is not text", key)
                raise _fault(f"the key {key.value!r} is not text; write it in quotes", key)
            if key.value in seen:
                raise _fault(f"duplicate key {key.value!r} (first on line {seen[key.value]})", key)
            seen[key.value] = key.start_mark.line + 1
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if node.tag == _INT and _OCTAL.fullmatch(node.value) and not self.takes_octal:
            digits = node.value.lstrip("+-0_") or "0"
            number = f"-{digits}" if node.value.startswith("-") else digits
            raise _fault(
                f"{node.value[:40]!r} begins with a zero, which makes it octal; write text in quotes, or the "
                f"number {number[:40]}",
                node,
            )
        try:
            value = super().construct_object(node, deep)
        except ValueError as error:  # a number that Python rejects: 0x_, or 5,000 digits
            raise _fault(f"{node.value[:40]!r} is not a readable number", node) from error
        if isinstance(value, int) and abs(value) > MAX_NUMBER:  # Python cannot print very long ones
            raise _fault(f"the number {node.value[:40]!r} has more than 40 digits", node)
        return value


class _RecordedLoader(_Loader):
    """Reads numbers as earlier versions did."""

    takes_octal = True


_RecordedLoader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in found if tag not in (_DATE, _VALUE)]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
# 12:30 is no number of base 60, but text
_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, re.compile(_BASE_60 + form.pattern, form.flags) if tag in (_INT, _FLOAT) else form)
        for tag, form in found
    ]
    for first, found in _RecordedLoader.yaml_implicit_resolvers.items()
}


def _fault(problem: str, at: Any) -> _Refusal:
    return _Refusal(None, None, problem, at.start_mark)


def _child(node: yaml.Node | None, part: object) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark.line + 1, node.value[part]
    return None
