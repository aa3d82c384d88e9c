"""The device `jfr`: recordings of JDK Flight Recorder, and what the rules of JDK Mission Control find in
them.

Its file is one of `events`. A text is RECORDED, of a JVM that is recorded from then on, or `score,rule:
message`: the controller applies the rules after the trial, and adds what they found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from density_study.workloads.base.parsing import Parsed, RejectedError, decimal
from density_study.workloads.monitors.daemons.events import Event, EventRow, parse_events

NAME = "jfr"
KIND = "flight recorder"
RECORDED = "recorded"
SETTINGS = "profile"
"""The JDK has two sets of settings; this one records more events."""
SECRET = (
    "jdk.InitialEnvironmentVariable",
    "jdk.InitialSystemProperty",
    "jdk.JVMInformation",
    "jdk.SystemProcess",
)
"""Events that are not recorded: variables and command lines, of other programs too, may hold passwords."""
LEAST_SCORE = 25.0
"""From 0 to 100. Mission Control calls a finding information from here on, and a warning from 75."""
_TAGS = re.compile(r"<[^>]{0,200}>")


def parse_jfr(data: bytes | str, file: str) -> Parsed[EventRow]:
    """ParseError if the file has no title of format 1."""
    return parse_events(data, file, NAME, _event_of)


def recorded(text: str) -> Sequence[str]:
    """The JVMs that a sampler's file tells of."""
    rows = [line.split(",") for line in text.splitlines()]
    found = sorted({row[1] for row in rows if row[2:] == [RECORDED]})
    return [name for name in found if re.fullmatch(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+", name)]


def _event_of(_daemon: str, epoch_s: float, text: str) -> Event | None:
    if text == RECORDED:
        return None
    score, _, words = text.partition(",")
    decimal(score)
    if not words.strip():
        raise RejectedError("a finding without words")
    return Event(KIND, words, epoch_s, None)


def found_in(report: str) -> Iterator[tuple[str, float, str]]:
    """File of the recording, score and words of each finding of Mission Control's report (XML), those of a
    file by their scores. None of a rule that could not be applied. ParseError of ElementTree if it is not
    XML."""
    for of_file in ElementTree.fromstring(report).iter("report"):
        found = []
        for rule in of_file.iter("rule"):
            score, name, message = (
                rule.findtext(tag) or "" for tag in ("score", "name", "message")
            )
            if score and float(score) >= LEAST_SCORE:
                words = " ".join(_TAGS.sub(" ", f"{name}: {message}").split())
                found.append((float(score), words))
        for score_, words in sorted(found, key=lambda one: -one[0]):
            yield of_file.findtext("file") or "", score_, words
