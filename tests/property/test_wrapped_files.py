"""The same output in another wrapping is read to the same numbers or refused; never to other numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from density_study.analysis.capacity.inputs.points import parse_points
from density_study.cluster.model.errors import InputError
from density_study.workloads.imports.describe import MOST_DIFFERENCE, content
from density_study.workloads.imports.piece import DfsioFacts, Piece, SpanFacts, YcsbFacts
from density_study.workloads.imports.recognise import recognise

SAMPLES = Path(__file__).parents[1] / "samples"
POINTS = Path(__file__).parents[2] / "analysis" / "capacity" / "inputs" / "examples" / "points.csv"
Wrap = Callable[[str, int], str]


def _each(before: Callable[[int], str], after: str = "") -> Wrap:
    def wrap(text: str, _: int) -> str:
        lines = text.split("\n")
        last = lines.pop()
        return (
            "".join(f"{before(number)}{line}{after}\n" for number, line in enumerate(lines)) + last
        )

    return wrap


WRAPS: dict[str, Wrap] = {
    "indented by blanks": _each(lambda _: "    "),
    "indented by a tab": _each(lambda _: "\t"),
    "quoted": _each(lambda _: "> "),
    "docker compose": _each(lambda _: "ycsb_1  | "),
    "docker compose v2": _each(lambda _: "my-ycsb-1  | "),
    "kubectl": _each(lambda n: f"2022-06-17T23:50:{n // 100 % 60:02d}.{n:09d}Z "),
    "kubectl with prefix": _each(lambda _: "[pod/ycsb-7d9f/client] "),
    "compose with times": _each(lambda n: f"ycsb_1  | 2022-06-17T23:50:53.{n:09d}Z "),
    "brackets": _each(lambda _: "[2019-03-01T12:00:00.123Z] "),
    "syslog": _each(lambda _: "Mar  1 12:00:00 node1 ycsb[123]: "),
    "ts": _each(lambda _: "Mar 01 12:00:00 "),
    "pdsh": _each(lambda _: "node1: "),
    "a clock": _each(lambda _: "12:00:00 "),
    "CRI": _each(lambda n: f"2022-06-17T23:50:53.{n:09d}Z stdout F "),
    "journal": _each(lambda _: "2022-06-17T23:50:53+0200 node1 ycsb[123]: "),
    "GitHub Actions": _each(lambda n: f"bench\tRun YCSB\t2022-06-17T23:50:53.{n:07d}Z "),
    "Oozie": _each(lambda _: "Stdoutput "),
    "blanks at ends": _each(lambda _: "", "  "),
    "colours": _each(lambda _: "\x1b[32m", "\x1b[0m"),
    "CRLF": _each(lambda _: "", "\r"),
    "BOM": lambda text, _: f"\ufeff{text}",
    "BOM and CRLF": lambda text, _: "\ufeff" + text.replace("\n", "\r\n"),
}
LOGS = (
    "ycsb-0.17.0_hdr.out", "ycsb-0.17.0_histogram.out", "ycsb-0.17.0_scan.out", "ycsb-0.17.0_timeseries.out",
    "TestDFSIO-3.4.2_results.log", "TestDFSIO-3.4.2_yarn_results.log",
)  # fmt: skip
TABLES = ("sar-12.6.1.csv", "dool-1.3.8.csv", "dstat-0.7.3.csv")


def facts(piece: Piece) -> object:
    """The numbers that leave the file."""
    if isinstance(piece.facts, YcsbFacts):
        return dict(piece.facts.counts), piece.facts.failed, piece.facts.run_s
    if isinstance(piece.facts, DfsioFacts):
        return piece.facts
    assert isinstance(piece.facts, SpanFacts)
    return piece.facts.rows, piece.facts.since_s, piece.facts.until_s


def read(folder: Path, text: str) -> tuple[list[object], str]:
    (folder / "f").write_text(text, encoding="utf-8", newline="")
    found = recognise(folder, "f")
    return [facts(piece) for piece in found.pieces], " ".join(map(str, found.refused))


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("name", (*LOGS, *TABLES))
def test_a_wrapping_changes_no_number(name: str, wrap: str, tmp_path: Path) -> None:
    text = (SAMPLES / name).read_text(encoding="utf-8")
    as_it_is, _ = read(tmp_path, text)
    assert as_it_is
    wrapped, refused = read(tmp_path, WRAPS[wrap](text, 1))
    assert wrapped == as_it_is, refused


@pytest.mark.parametrize("name", (*LOGS, *TABLES))
def test_a_foreign_prefix_is_refused_by_its_words(name: str, tmp_path: Path) -> None:
    text = (SAMPLES / name).read_text(encoding="utf-8")
    wrapped, refused = read(tmp_path, _each(lambda n: f"<<{n}>> ")(text, 1))
    assert not wrapped and "<<" in refused and "remove it" in refused


@pytest.mark.parametrize("name", LOGS[:4])
def test_lines_of_two_clients_give_no_number(name: str, tmp_path: Path) -> None:
    lines = (SAMPLES / name).read_text(encoding="utf-8").splitlines(keepends=True)
    for first, later in (("client_1  | ", "client_2  | "), ("node1: ", "node2: ")):
        mixed = "".join(f"{first}{line}{later}{line}" for line in lines)
        found, refused = read(tmp_path, mixed)
        assert not found and "are mixed" in refused
    found, refused = read(tmp_path, "".join(f"{line}{line}" for line in lines))
    assert not found and refused


@pytest.mark.parametrize("name", ("ycsb-0.17.0_hdr.out", "ycsb-0.17.0_scan.out"))
def test_a_cut_summary_is_refused_or_contradicts_itself(name: str, tmp_path: Path) -> None:
    text = (SAMPLES / name).read_text(encoding="utf-8")
    (whole,), _ = read(tmp_path, text)
    rng = random.Random(name)
    for end in sorted(rng.sample(range(1, len(text)), 150)):
        (tmp_path / "f").write_text(text[:end], encoding="utf-8")
        for piece in recognise(tmp_path, "f").pieces:
            if piece.kind != "ycsb-run" or facts(piece) == whole:
                continue
            told, implied = sum(piece.ycsb.counts.values()), piece.ycsb.implied
            assert implied is not None and abs(implied - told) > MOST_DIFFERENCE * told
            assert "contradicts itself" in content(piece) or piece.ycsb.problem


@pytest.mark.parametrize("name", LOGS)
def test_other_locales_are_refused(name: str, tmp_path: Path) -> None:
    text = (SAMPLES / name).read_text(encoding="utf-8")
    comma = "\n".join(
        line.rpartition(" ")[0] + " " + line.rpartition(" ")[2].replace(".", ",")
        for line in text.split("\n")
    )
    as_it_is, _ = read(tmp_path, text)
    found, refused = read(tmp_path, comma)
    assert refused or found == as_it_is


@pytest.mark.parametrize("thousands", (".", ",", " ", "'", "\u00a0", "\u202f", "_"))
@pytest.mark.parametrize("delimiter", (";", "\t"))
def test_separators_of_thousands_are_refused(thousands: str, delimiter: str) -> None:
    head, *lines = POINTS.read_text(encoding="utf-8").splitlines()
    place = head.split(",").index("value")
    written = []
    for line in lines:
        cells = line.split(",")
        cells[place] = f"{round(float(cells[place])):,}".replace(",", thousands)
        written.append(delimiter.join(cells))
    with pytest.raises(InputError, match="value is"):
        parse_points("\n".join((head.replace(",", delimiter), *written)), "points.csv")


@pytest.mark.parametrize("delimiter", (";", "\t", ","))
def test_decimal_points_are_read_whatever_parts_the_cells(delimiter: str) -> None:
    text = POINTS.read_text(encoding="utf-8")
    points = parse_points(text.replace(",", delimiter), "p")
    assert [one.value for one in points] == [one.value for one in parse_points(text, "p")]
