"""All texts for users avoid outdated terms: pages, help, errors, the report's templates."""

from __future__ import annotations

import re

import pytest

from tests.unit.user_texts import OF_THEIR_TIME, texts

_COUNTED = (
    r"(?:operations?|rows?|samples?|requests?|genomes?|units?|builds?|trials?|maps?|bytes|[MG]iB)"
)
_EACH = r"(?:second|minute|hour|day|week|variant|unit|host|node|trial|map|task|file|stream|build|genome)"
PREFERRED = {
    r"SLAs?": "SLO",
    r"(?:add[-_]blocks|blocks=\d+|blocks: \d+)": "repetition",
    r"so many": "n, or 'this number of'",
    r"told": "reported, shown, given",
    r"said": "reported, stated",
    r"asked": "requested, given",
    r"comes? to(?= be\b| an end| its end| nothing)": "is, ends",
    rf"{_COUNTED} an? {_EACH}": "per",
    r"(?:a variant|a unit)(?= or more\b| of evidence)": "per variant, per unit",
    r"(?:go|goes|going|gone|went) on with": "resume, continue",
    r"(?:hold|held|holds) against": "compare with",
    r"sign(?:ed|s)? on(?: to)?": "log in",
    r"patience": "timeout scale",
    r"(?:a|by|of) dice": "rng",
    r"cost pairs?": "overhead pair",
}
"""Outdated term, as a pattern for whole words -> the preferred term (docs/reference/glossary.md)."""
RENAMED = {
    r"[Aa]rms?": "variant",
    r"[Mm]edium(?! of)": "disk type",
    r"given clusters?": "existing cluster",
    r"(?:reproduced|contradicted)": "confirmed, refuted",
}
"""The same, of words that pages of their time keep (CONTRIBUTING.md)."""
OLD = {re.compile(rf"\b(?:{old})\b"): new for old, new in PREFERRED.items()}
OLD_TOO = {**OLD, **{re.compile(rf"\b(?:{old})\b"): new for old, new in RENAMED.items()}}
DEFINES_THEM = {
    "glossary.md": ("SLA",),
    "CHANGELOG.md": ("arm", "arms", "Arms", "medium", "given cluster", "add-blocks"),
    "analysis/capacity/inputs/points.py": ("medium",),
    "docstrings of cluster/old_names.py": ("arm",),
    "CONTRIBUTING.md": ("arm", "arms", "medium", "given cluster", "reproduced", "contradicted"),
}
"""Pages that must use an outdated term, to state that we do not use it."""


def faults(name: str, text: str) -> list[str]:
    allowed = DEFINES_THEM.get(name, ())
    return [
        f"{match[0]!r}: write {new}"
        for pattern, new in (OLD if OF_THEIR_TIME.match(name) else OLD_TOO).items()
        for match in pattern.finditer(text)
        if match[0] not in allowed
    ]


def test_texts_use_the_preferred_terms() -> None:
    found = {name: faults(name, text) for name, text in texts().items()}
    assert {name: old for name, old in found.items() if old} == {}


def test_every_kind_of_text_is_checked() -> None:
    names = texts().keys()
    assert {"README.md", "study run --help", "dags/cli/arguments.py"} <= names
    assert any(name.endswith(".j2") for name in names)
    assert len(names) > 100


@pytest.mark.parametrize(
    "text",
    (
        "the run is told",
        "2 builds a variant",
        "the second arm",
        "an SLA",
        "--add-blocks 2",
        "it goes on with it",
    ),
)
def test_outdated_terms_are_detected(text: str) -> None:
    assert faults("a page", text)


@pytest.mark.parametrize("text", ("HDFS blocks", "has a unit", "told-you-so.md"[4:], "asks"))
def test_technical_terms_are_accepted(text: str) -> None:
    assert faults("a page", text) == []
