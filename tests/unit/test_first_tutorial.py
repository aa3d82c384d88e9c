"""The first tutorial's counts are those of the study that it runs."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.study.shipped import study_path
from docs.generator.sample import kept

CHECKOUT = Path(__file__).parents[2]
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@pytest.fixture(scope="module")
def page() -> str:
    text = (CHECKOUT / "docs" / "tutorials" / "first-report.md").read_text("utf-8")
    return " ".join(text.split())


def test_the_counts_of_the_first_tutorial_are_true(page: str) -> None:
    plan = plan_study(study_path(Path("quickstart"))).plan
    builds = sorted({str(step.build) for step in plan.trials})
    assert f"two builds, `{builds[0]}` and `{builds[1]}`" in page
    of_build = [step for step in plan.trials if step.build == builds[0]]
    by_kind = Counter(str(step.trial).split("-")[4] for step in of_build)
    assert (
        f"Each build runs {WORDS[len(of_build)]} trials: {WORDS[by_kind['testdfsio']]} with TestDFSIO and "
        f"{WORDS[by_kind['ycsb']]} with YCSB." in page
    )
    assert f"It lists {len(plan.trials)} trials" in page
    assert f"step 3/{len(plan.steps)}:" in page


def test_readme_and_the_tutorial_show_the_run_of_the_picture(page: str) -> None:
    """docs/report.png is of the same numbers."""
    headline = kept("quickstart").headline
    assert headline in page
    readme = (CHECKOUT / "README.md").read_text("utf-8")
    rates = re.findall(r"([\d,]+) (?:ops|MiB)/s", readme)
    assert len(rates) == 4 and all(f"{rate} " in headline for rate in rates)


def test_its_four_more_repetitions_take_what_it_says(page: str) -> None:
    plan = plan_study(study_path(Path("quickstart"))).plan
    said = re.search(r"four more repetitions, about (\d+) minutes", page)
    assert said is not None
    assert abs(int(said[1]) - 4 * plan.estimate_s / 60) < 1.0
