"""Rehearse every shipped study that decides something: `python -m docs.generator.rehearsed [STUDY...]`.

Writes rehearsed.json, from which the page of shipped studies has its rehearsed columns. Each study is drawn
twice: with the ratios that its plan names, or the talk's effects, and without any effect.
"""

from __future__ import annotations

import hashlib
import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any

from density_study.analysis.findings.power_of_design import SPREADS
from density_study.analysis.findings.question import WANTED_RATIO
from density_study.analysis.findings.question_power import PlannedQuestion, questions_of
from density_study.analysis.statistics.power import POWER
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.simulated.effects import Effects
from density_study.cluster.providers.simulated.noise import Noise
from density_study.dags.stages.rehearsal import foreseen
from density_study.workloads.base.yaml_text import parse_yaml, read_text
from density_study.workloads.planning.plan import Plan
from density_study.workloads.planning.planned_study import outlined_study
from density_study.workloads.simulated.effects_file import named_effects
from density_study.workloads.study.shipped import shipped_studies

FILE = Path(__file__).with_name("rehearsed.json")
TIMES = 200
Row = tuple[str, str]


@dataclass(frozen=True)
class AsPlanned(Effects):
    """Logarithms of speeds by variant and workload, so that all ratios are at least those planned for."""

    speeds: Mapping[Row, float] = field(default_factory=dict)

    def log_speed(self, topology: Topology, mode: str) -> float:
        return self.speeds.get((topology.name, mode), 0.0)


def as_planned(plan: Plan, questions: tuple[PlannedQuestion, ...]) -> Effects:
    """A later variant is the planned ratio away from the first of its pair, in the plan's order."""
    modes = {step.test_case.id: step.test_case.mode_name for step in plan.trials if step.test_case}
    speeds: dict[Row, float] = {}
    for one in (part for question in questions for part in question.comparisons):
        rows = [(topology, modes[case]) for case, topology in one.cells]
        if one.reference or len(rows) < 2:
            continue
        away = log(one.rule.planned(WANTED_RATIO)) * (-1 if "latency" in one.family else 1)
        speed = speeds.setdefault(rows[0], 0.0) + away
        known = speeds.get(rows[-1], 0.0)
        speeds[rows[-1]] = max(known, speed) if away > 0 else min(known, speed)
    return AsPlanned("planned", alike=("*",), speeds=speeds)


def rehearsed(path: Path) -> dict[str, Any]:
    """What rehearsals of a study decide, by its questions; why it has none, if it cannot be rehearsed."""
    made = outlined_study(path)
    questions = questions_of(made.study, made.plan)
    is_talk = made.study.study == "talk-2013"
    effects = named_effects("talk") if is_talk else as_planned(made.plan, questions)
    noise = Noise(builds=SPREADS[0])
    try:
        true = foreseen(made.file, Path("rehearsals"), effects, noise).decided(TIMES)
        none = foreseen(made.file, Path("rehearsals"), named_effects("none"), noise).decided(TIMES)
    except InputError as error:
        return {"digest": digest(path), "why_not": error.what}
    right: dict[str, list[float]] = {}
    for one in true.by_id.values():
        if one.truth in ("confirmed", "refuted"):
            right.setdefault(one.question, []).append(one.right)
    return {
        "digest": digest(path),
        "times": TIMES,
        "right": {name: min(shares) for name, shares in right.items()},
        "wrong": none.wrong / TIMES,
        "hours": sorted(true.seconds)[TIMES // 2] / 3600,
    }


def digest(path: Path) -> str:
    """Of the study's keys, whatever its comments say."""
    keys = json.dumps(parse_yaml(read_text(path), path.name).value, sort_keys=True)
    return hashlib.sha256(keys.encode()).hexdigest()[:16]


def known() -> dict[str, dict[str, Any]]:
    """By study, of those whose files have not changed since."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    paths = shipped_studies()
    return {
        name: one
        for name, one in found.items()
        if name in paths and one["digest"] == digest(paths[name])
    }


def _decides(path: Path) -> bool:
    made = outlined_study(path)
    every = questions_of(made.study, made.plan)
    return any(one.power(made.plan.repetitions, SPREADS[0]) >= POWER for one in every)


def main(names: list[str]) -> None:
    found = known() if FILE.exists() else {}
    for name, path in sorted(shipped_studies().items()):
        if _decides(path) and (not names or name in names):
            found[name] = rehearsed(path)
            print(name, json.dumps(found[name]), flush=True)
    FILE.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="names of shipped studies")
    main(parser.parse_args().studies)
