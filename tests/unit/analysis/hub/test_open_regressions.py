"""Open regressions in the hub: new ones, and acknowledged ones with an owner or a ticket."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from density_study.analysis.comparison import acknowledged
from density_study.analysis.comparison.acknowledged import (
    NOTHING,
    Acknowledged,
    Known,
    acknowledge,
    read_acknowledged,
)
from density_study.analysis.comparison.compare import compare
from density_study.analysis.comparison.numbers import Key, Number, numbers
from density_study.analysis.hub import open_regressions as module
from density_study.analysis.hub.open_regressions import OpenRegression, open_regressions
from density_study.analysis.hub.results import results
from tests.support.made_runs.nightly_runs import hub, nightly, october, run_id, whole
from tests.support.report_pages import Elements


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Run 2 is a fifth slower, which its comparison says."""
    for number, ops_s in ((1, 100.0), (2, 80.0)):
        whole(tmp_path, nightly(number, ops_s))
    compared = compare([nightly(1)], nightly(2, 80.0), 0.05, october())
    assert len(compared.regressions) == 3
    file = tmp_path / "nightly" / run_id(2) / "report" / "comparison.json"
    file.write_text(compared.model_dump_json())
    return tmp_path


def found(runs: Path) -> list[OpenRegression]:
    (study,) = results(runs)
    return list(open_regressions(study, read_acknowledged(runs / "nightly")))


def ids(runs: Path) -> list[str]:
    """The numbers of run 2, as its comparison calls them."""
    (slow,) = (run for run in results(runs)[0].runs if run.facts.run == run_id(2))
    return [one.finding.id for one in slow.regressions]


def accept(runs: Path, **more: str) -> None:
    new = [
        Known(number=one, run=run_id(2), reason="known", effect=0.8, **more) for one in ids(runs)
    ]
    acknowledge(runs / "nightly", new)


def test_a_new_regression_is_open_and_has_no_owner(runs: Path) -> None:
    assert [(one.found.facts.run, one.known) for one in found(runs)] == [(run_id(2), None)] * 3
    assert {one.then for one in found(runs)} <= {"×0.80", "×0.79", "×0.81"}
    text = re.sub("<.*?>", "", hub(runs))
    assert f"study compare {run_id(2)} --acknowledge REASON --owner NAME" in text
    whole(runs, nightly(3, 80.0))
    assert len(found(runs)) == 3, "a later run that was not compared hides nothing"


def test_a_regression_stays_open_until_it_is_acknowledged(runs: Path) -> None:
    """Run 3 is as slow as run 2, or as fast as run 1 was: its comparison shows no regression either way."""
    compared = compare([nightly(2, 80.0)], nightly(3, 80.0), 0.05, october())
    assert compared.headline and not compared.regressions
    for ops_s in (80.0, 100.0):
        report = whole(runs, nightly(3, ops_s)) / "report"
        (report / "comparison.json").write_text(compared.model_dump_json())
        after = found(runs)
        assert [(one.found.facts.run, one.unseen) for one in after] == [(run_id(2), 1)] * 3
        assert {one.then for one in after} <= {"×0.80", "×0.79", "×0.81"}
        assert {float(one.now[1:]) for one in after} <= {
            x / 100 for x in range(int(ops_s) - 3, int(ops_s) + 4)
        }
        assert "not shown by 1 later comparison" in re.sub("<.*?>", "", hub(runs))
    names = ids(runs)
    acknowledge(runs / "nightly", [Known(number=name, run=run_id(2)) for name in names[:1]])
    acknowledge(runs / "nightly", [Known(number=name, run=run_id(3)) for name in names[1:2]])
    assert len(found(runs)) == 1, "a later level that is known covers the earlier one"


def test_what_is_accepted_is_not_open(runs: Path) -> None:
    accept(runs)
    assert found(runs) == []
    assert "Open regressions" not in hub(runs)


def test_only_the_test_case_of_an_acknowledged_number_is_looked_at(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of a run were, for each."""
    accept(runs, owner="ada")
    asked = []

    def counted(key: Key, *more: Any) -> Iterator[Number]:
        asked.append(key)
        return numbers(key, *more)

    monkeypatch.setattr(module, "numbers", counted)
    assert len({one.subject for one in found(runs)}) == 3 and len(asked) == 3
    assert all(name.endswith("-".join(key)) for name, key in zip(ids(runs), asked, strict=True))


def test_assigned_ones_are_open_and_show_the_newest_run(runs: Path) -> None:
    accept(runs, owner="ada", ticket="https://tickets.example.org/PERF-12")
    assert {one.now for one in found(runs)} == {"×0.80"}
    whole(runs, nightly(3, 100.0))
    after = found(runs)
    assert len(after) == 3 and {one.then for one in after} == {"×0.80"}
    assert {one.now for one in after} <= {"×0.98", "×0.99", "×1.00", "×1.01", "×1.02"}
    page = Elements(hub(runs))
    links = [a["href"] for _, a, _ in page.having("a") if "tickets.example.org" in str(a)]
    assert links == ["https://tickets.example.org/PERF-12"] * 3


def test_two_users_at_once_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one read the file before the first had written it."""
    first, second = (Known(number=n, run=run_id(2), owner=n) for n in ("a", "b"))
    read, others = acknowledged.read_acknowledged, list[threading.Thread]()

    def slow(folder: Path) -> Acknowledged:
        found = read(folder)
        if not others:
            others.append(threading.Thread(target=acknowledge, args=(tmp_path, [second])))
            others[0].start()
            others[0].join(0.5)
        return found

    monkeypatch.setattr(acknowledged, "read_acknowledged", slow)
    acknowledge(tmp_path, [first])
    others[0].join()
    assert set(read(tmp_path).known) == {first, second}
    assert [path.name for path in tmp_path.iterdir()] == [acknowledged.FILE]


def test_hostile_owners_and_tickets_stay_text(runs: Path) -> None:
    accept(runs, owner="<img src=x>", ticket="javascript:alert(1)")
    page = Elements(hub(runs))
    assert not page.having("img")
    assert not [a for _, a, _ in page.having("a") if str(a.get("href")).startswith("javascript")]


def test_a_damaged_file_hides_no_run(runs: Path, caplog: pytest.LogCaptureFixture) -> None:
    (runs / "nightly" / "acknowledged.json").write_text("{")
    assert run_id(2) in hub(runs)
    assert "open regressions" in caplog.text


def test_numbers_that_the_newest_run_lacks_are_not_known(runs: Path) -> None:
    accept(runs, owner="ada")
    whole(runs, nightly(3, test_cases=nightly(3).test_cases[1:]))
    assert sorted(one.now for one in found(runs))[0] == ""
    (runs / "nightly" / run_id(2) / "report" / "summary.json").unlink()
    assert {one.now for one in found(runs)} == {""}


def test_an_acknowledged_level_begins_at_its_run_also_beside_runs_of_another_study() -> None:
    earlier = [one.model_copy(update={"study": "weekly"}) for one in october()]
    earlier += [nightly(number) for number in range(1, 5)]
    (one, _) = numbers(("ycsb-load-r1000-t8", "v1-flash"), earlier, nightly(5), NOTHING)
    known = Acknowledged(known=(Known(number=one.id, run=run_id(4)),))
    (one, _) = numbers(one.key, earlier, nightly(5), known)
    assert one.course.runs[one.course.start] == run_id(4)
