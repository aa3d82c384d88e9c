"""Tags that people give runs: their form, and which of several values counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.state.run_tags import has_tags, parse_tags, tag_run, tags_of


def test_pairs_become_tags() -> None:
    assert parse_tags(["ticket=PERF-12", "os.kernel=6.12", "note=a = b"]) == {
        "ticket": "PERF-12",
        "os.kernel": "6.12",
        "note": "a = b",
    }
    assert parse_tags([]) == {}


@pytest.mark.parametrize(
    "pair",
    ["ticket", "=x", "Ticket=1", "a b=c", "1st=x", f"{'k' * 41}=x", "ticket=", "ticket=a\nb",
     "ticket=a\x00b", f"ticket={'v' * 251}", "ticket=\u202egpj.exe"],
)  # fmt: skip
def test_a_bad_pair_is_named_with_a_remedy(pair: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_tags(["good=1", pair])
    assert caught.value.where.startswith(f"--tag {pair[:20]}")
    assert "ticket=PERF-12" in caught.value.remedy


def test_a_later_value_replaces_an_earlier_one(tmp_path: Path) -> None:
    assert tags_of(tmp_path) == {}
    tag_run(tmp_path, {"ticket": "1", "who": "ann"})
    tag_run(tmp_path, {})
    tag_run(tmp_path, {"ticket": "2"})
    assert tags_of(tmp_path) == {"ticket": "2", "who": "ann"}
    assert len((tmp_path / "journal.jsonl").read_text().splitlines()) == 2


def test_all_wanted_tags_are_required() -> None:
    tags = {"a": "1", "b": "2"}
    assert (
        has_tags(tags, {}) and has_tags(tags, {"a": "1"}) and has_tags(tags, {"b": "2", "a": "1"})
    )
    assert not has_tags(tags, {"a": "2"}) and not has_tags(tags, {"a": "1", "c": "3"})
