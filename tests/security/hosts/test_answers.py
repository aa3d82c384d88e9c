"""Every value that a host answers has a type with bounds; anything else is refused."""

from __future__ import annotations

import io
import json
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from density_study.cluster.machine.host_commands import HOST_COMMANDS
from density_study.cluster.providers.ssh import wire
from density_study.cluster.providers.ssh.agent import Agent
from density_study.cluster.providers.ssh.answers import ACTS, VERBS, checked, checked_failure

TEMPLATE = "/usr/lib/{{ lookup('pipe', 'touch /tmp/canary') }}"
NASTY = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=2**62, max_value=2**80),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(
        [TEMPLATE, "../../etc/cron.d/x", "/etc/passwd", "a\0b", "x/../../y", "-oProxyCommand=x", "\x1b]0;x\a",
         "a" * 10_000, "$(id)", "`id`", "a\nb"]
    ),
)  # fmt: skip
ANSWERS = st.recursive(
    NASTY,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=8,
)
NAMES = (*VERBS, *ACTS)


def ask(name: str, value: Any) -> Any:
    items: list[Any] = [[]]
    return (
        checked("act", (name, items), value) if name in ACTS else checked(name, tuple(items), value)
    )


def test_each_request_has_a_type_of_answer() -> None:
    assert set(ACTS) == set(HOST_COMMANDS)
    assert set(VERBS) == {name for name in vars(Agent) if not name.startswith("_")} - {"act"}


@given(name=st.sampled_from(NAMES), value=ANSWERS)
def test_an_answer_is_of_its_type_or_refused(name: str, value: Any) -> None:
    try:
        answer = ask(name, value)
    except wire.WireError as error:
        assert len(str(error)) < 1000
        return
    if name == "files":
        assert all(stays_below(one) for one in answer)
    if name in ("java", "find-program", "network-device"):
        assert not set(json.dumps(answer)) & set("{}$`;|&<>'") - set("{}")


@pytest.mark.parametrize(
    "value",
    [None, True, -1, 10**30, "x", TEMPLATE, [1], ["../x"], [None], {"home": TEMPLATE}, {"": {}}, [[[]]]],
    ids=str,
)  # fmt: skip
def test_a_wrong_type_is_refused(value: Any) -> None:
    """Only an answer of another request of the same type is not noticed."""
    for name in NAMES:
        try:
            json.dumps(ask(name, value), default=bytes.decode)
        except wire.WireError as error:
            assert name in str(error)


@pytest.mark.parametrize(
    "name",
    ["../x", "a/../../x", "/etc/passwd", "", ".", "..", "a/.", "a//b", "a/", "a\0b", "a\nb", "\x1b[2J",
     "\u202ex", "a" * 300, "/".join("a" * 600)],
)  # fmt: skip
def test_a_name_outside_the_folder_is_refused(name: str) -> None:
    with pytest.raises(wire.WireError, match="files"):
        ask("files", ["fine", name])


def test_names_are_bounded_in_number_and_cannot_collide() -> None:
    with pytest.raises(wire.WireError, match="at most 20000"):
        ask("files", [f"f{number}" for number in range(20_001)])
    with pytest.raises(wire.WireError, match="a file inside a file"):
        ask("files", ["a", "a/b"])
    assert ask("files", ["a/b", "a/c", "ü ✓.log"]) == ["a/b", "a/c", "ü ✓.log"]


@pytest.mark.parametrize(
    "home",
    [TEMPLATE, "usr/lib", "/usr/../etc", "/usr lib", "/a'b", "/a$(id)", "/-x/..", "/a\n", "/"],
)
def test_the_path_of_a_program_is_a_plain_one(home: str) -> None:
    with pytest.raises(wire.WireError, match="java"):
        ask("java", {"home": home, "version": "17.0.15"})
    fine = {"home": "/usr/lib/jvm/java-17-openjdk-amd64", "version": "17.0.15+6"}
    assert ask("java", fine) == fine


def test_an_answer_has_a_part_for_each_item() -> None:
    for name, items, value in (
        ("alive", [[["n", "d", 5, 1]]], []),
        ("containers-spent", ["c1"], {}),
    ):
        arguments = (name, [items]) if name in ACTS else (items[0],)
        verb = "act" if name in ACTS else name
        with pytest.raises(wire.WireError, match="missing"):
            checked(verb, tuple(arguments), value)


@pytest.mark.parametrize(
    "value", [{}, {"error": 1, "what": "x"}, {"error": "x"}, {"error": "x", "what": "y" * 200_000}]
)
def test_a_failure_is_described_in_words(value: Any) -> None:
    with pytest.raises(wire.WireError):
        checked_failure(value)


@pytest.mark.parametrize(
    "content",
    [b"\xff\xff\xff\xff", b"\0\0\0\2{", b"\0\0\0\3NaN", b"\0\0\0\5[1e9]x", b"\0\0\0\7[1e999]",
     b"\0\0\0\1\xff", b"\0\0\0\x08\"\\ud800\"", (9000).to_bytes(4, "big") + b"[" * 9000,
     (9000).to_bytes(4, "big") + b"9" * 9000, b""],
)  # fmt: skip
def test_what_is_no_message_is_an_error(content: bytes) -> None:
    stream = io.BytesIO(content)
    with pytest.raises((wire.WireError, EOFError)):
        wire.receive(stream, 10_000)
        wire.receive(stream, 10_000)


@given(value=ANSWERS)
def test_messages_arrive_as_they_were_sent(value: Any) -> None:
    stream = io.BytesIO()
    try:
        wire.send(stream, value)
    except ValueError:  # half a surrogate pair
        assert stream.getvalue() == b""
        return
    stream.seek(0)
    assert wire.receive(stream, 10**6) == value


def stays_below(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\0" not in name
