"""The account of lines, and strict parsing of numbers."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from density_study.workloads.base.parsing import (
    EXCERPT_CHARACTERS,
    Ledger,
    Line,
    ParseError,
    RejectedError,
    decimal,
    json_object,
    whole,
)


def test_every_line_has_exactly_one_fate() -> None:
    ledger = Ledger(b"one\r\ntwo\n\xff\xfe\nfour\n\nlast", "f")
    one, two, four, blank, last = ledger.lines
    ledger.parse(one)
    ledger.skip(two, blank)
    ledger.quarantine("odd", four)
    parsed = ledger.close(("row",))
    assert (parsed.parsed, parsed.skipped, parsed.lines) == (1, 2, 6)
    assert [(q.line, q.reason, q.text) for q in parsed.quarantined] == [
        (3, "not UTF-8", "\\xff\\xfe"),
        (4, "odd", "four"),
        (6, "not understood", "last"),
    ]
    assert (one.text, last.ended) == ("one", False)


def test_single_line_rows_are_parsed_skipped_or_quarantined() -> None:
    def row_of(line: Line) -> float | None:
        return None if line.text == "#" else decimal(line.text)

    ledger = Ledger("1\n#\n-2\n3\n", "f")
    parsed = ledger.close(ledger.read(row_of))
    assert parsed.rows == (1.0, 3.0)
    assert (parsed.parsed, parsed.skipped) == (2, 1)
    assert [(q.line, q.reason) for q in parsed.quarantined] == [(3, "negative number '-2'")]


def test_a_later_fate_replaces_an_earlier_one() -> None:
    ledger = Ledger("a\n", "f")
    ledger.parse(*ledger.lines)
    ledger.quarantine("block not trusted", *ledger.lines)
    assert ledger.close(()).parsed == 0


def test_empty_input_has_no_lines() -> None:
    assert Ledger(b"", "f").close(()).lines == 0


def test_excerpts_are_short() -> None:
    quarantined = Ledger("x" * 10_000, "f").close(()).quarantined
    assert len(quarantined[0].text) == EXCERPT_CHARACTERS


def test_parse_errors_survive_pickling() -> None:
    error = pickle.loads(pickle.dumps(ParseError("f.csv", 3, "no header")))
    assert (error.file, error.line, error.reason) == ("f.csv", 3, "no header")
    assert str(error).startswith("f.csv:3: no header.")


@pytest.mark.parametrize("text, value", [("0", 0.0), ("11.44", 11.44), ("1.2345E7", 1.2345e7)])
def test_decimals(text: str, value: float) -> None:
    assert decimal(text) == value


@pytest.mark.parametrize(
    "text, reason",
    [
        ("11,44", "locale"),
        ("1.907,35", "locale"),
        ("1\u00a0907,35", "locale"),
        ("١١", "locale"),
        ("∞", "not finite"),
        ("NaN", "not finite"),
        ("-Infinity", "not finite"),
        ("-1", "negative"),
        ("-1e-9", "negative"),
        ("1e999", "too large"),
        ("9" * 5000, "too large"),
        ("9007199254740993", "too large"),
        ("", "missing"),
        ("1_000", "not a number"),
        (" 1", "not a number"),
        ("0x10", "not a number"),
        (".5", "not a number"),
        ("1.", "not a number"),
    ],
)
def test_invalid_decimals_are_rejected(text: str, reason: str) -> None:
    with pytest.raises(RejectedError, match=reason):
        decimal(text)


@pytest.mark.parametrize("text", ["1.0", "-1", "9223372036854775808", "9" * 5000, "", "1e3", "²"])
def test_invalid_whole_numbers_are_rejected(text: str) -> None:
    with pytest.raises(RejectedError):
        whole(text)


def test_whole_numbers_fit_into_a_long() -> None:
    assert whole("9223372036854775807") == 2**63 - 1
    with pytest.raises(RejectedError, match="too large"):
        whole("11", most=10)


@pytest.mark.parametrize("text", ["", "[1]", '{"a": 1', '{"a":' * 100_000, "nul", '"a"'])
def test_invalid_json_objects_are_rejected(text: str) -> None:
    with pytest.raises(RejectedError):
        json_object(text)


def test_parsers_import_only_the_standard_library() -> None:
    """Spark executors load them: no heavy import may come along."""
    modules = [
        "density_study.workloads.testdfsio.output.results",
        "density_study.workloads.testdfsio.output.io_parts",
        "density_study.workloads.testdfsio.output.history",
        "density_study.workloads.ycsb.output.summary",
        "density_study.workloads.ycsb.output.status",
        "density_study.workloads.ycsb.output.interval_log",
        "density_study.workloads.monitors.dool",
        "density_study.workloads.monitors.nodecpu",
    ]
    code = f"""
import sys
before = set(sys.modules)
import {", ".join(modules)}
new = {{name.partition(".")[0] for name in set(sys.modules) - before}}
ours = {{"density_study"}}
foreign = new - set(sys.stdlib_module_names) - ours  # build test_cases: a name per platform
print(*sorted(name for name in foreign if not name.startswith("_sysconfigdata")))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
