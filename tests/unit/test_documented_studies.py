"""Every study, map of an import, and part of either, shown in YAML on README and the pages is valid."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from density_study.cluster.model.errors import InputError
from density_study.workloads.imports.map_model import ImportMap
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.simulated.effects_file import named_effects
from density_study.workloads.study.study_file import parse_study
from tests.support.pages import blocks as page_blocks

CHECKOUT = Path(__file__).parents[2]
PAGES = (
    CHECKOUT / "README.md",
    CHECKOUT / "CONTRIBUTING.md",
    *sorted(CHECKOUT.glob("docs/**/*.md")),
)
BASE = """
study: documented
hosts: [{name: here, memory: 12 GiB, roles: [master, worker, client]}]
factors: {vms_per_host: [1, 2]}
workloads: [{ycsb: {records: [100_000], mixes: [load, c], threads: [8]}}]
"""
"""The complete study that a page's part is merged into."""


def blocks() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        shown = [
            block
            for block in page_blocks.blocks(page.read_text("utf-8"))
            if block.language == "yaml"
        ]
        for number, block in enumerate(shown, 1):
            yield f"{page.relative_to(CHECKOUT)} {number}", block.text


SHOWN = dict(blocks())
MAPS = {name: text for name, text in SHOWN.items() if "import-records.md" in name}
EFFECTS = {name: text for name, text in SHOWN.items() if "rehearse-a-study.md" in name}
STUDIES = {name: text for name, text in SHOWN.items() if name not in MAPS | EFFECTS}


def test_pages_show_complete_studies_and_parts() -> None:
    whole = [name for name, text in STUDIES.items() if "study" in yaml.safe_load(text)]
    assert "README.md 1" in whole
    assert len(whole) < len(STUDIES)


@pytest.mark.parametrize("name", MAPS)
def test_a_shown_map_is_valid(name: str) -> None:
    shown = yaml.safe_load(MAPS[name])
    trial = {"ycsb": {"mix": "c"}, "repetition": 1, **shown}
    whole = shown if "trials" in shown else {"study": "documented", "trials": [trial]}
    assert ImportMap.model_validate(whole).trials


@pytest.mark.parametrize("name", EFFECTS)
def test_a_shown_file_of_effects_is_valid(name: str, tmp_path: Path) -> None:
    (tmp_path / "effects.yaml").write_text(EFFECTS[name], encoding="utf-8")
    assert named_effects(str(tmp_path / "effects.yaml")).declared


@pytest.mark.parametrize("name", STUDIES)
def test_a_shown_study_is_valid(name: str, tmp_path: Path) -> None:
    shown = yaml.safe_load(SHOWN[name])
    text = SHOWN[name] if "study" in shown else yaml.safe_dump(yaml.safe_load(BASE) | shown)
    study = parse_study(text, name).study
    if study.provider == "local":  # others are planned with requests to their hosts
        (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
        assert plan_study(tmp_path / "study.yaml", runs=tmp_path / "runs").plan.trials


def test_a_misspelt_key_is_detected() -> None:
    with pytest.raises(InputError, match="blokcs"):
        parse_study(BASE + "blokcs: 5\n", "a page")
