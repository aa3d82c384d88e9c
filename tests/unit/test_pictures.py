"""Pictures in docs show what the program shows now: `make pictures` takes and records them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from density_study.analysis.report import page
from tests.browser import looked
from tests.browser import shown as kept
from tests.browser.shown import DOCS, record, recorded, shown


def test_every_picture_has_a_record() -> None:
    assert set(recorded()) == {picture.name for picture in DOCS.glob("*.png")}


@pytest.mark.parametrize("picture", sorted(recorded()))
def test_no_picture_is_older_than_what_it_shows(picture: str) -> None:
    assert recorded()[picture] == shown(picture), "take it again: `make pictures`"


@pytest.mark.parametrize("kind", looked.LOOKED)
def test_the_page_of_every_kind_of_run_was_looked_at(kind: str) -> None:
    assert looked.looked_at()[kind] == looked.page_hash(kind), "look again: `make looked`"
    assert all((looked.KEPT / f"{kind}-{view}.jpg").stat().st_size for view in looked.VIEWS)


def test_a_change_of_any_section_must_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "DOCUMENTS", {})
    assert looked.looked_at()["decided"] != looked.page_hash("decided")


def test_a_change_of_the_first_screen_makes_pictures_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes = tmp_path / "pictures.json"
    hashes.write_text("{}")
    monkeypatch.setattr(kept, "HASHES", hashes)
    record("report.png")
    assert json.loads(hashes.read_text()) == {"report.png": shown("report.png")}
    record("airflow-hub.png")
    monkeypatch.setattr(page, "trust", lambda _: ())
    assert recorded()["report.png"] != shown("report.png")
    assert recorded()["airflow-hub.png"] == shown("airflow-hub.png")  # another page
