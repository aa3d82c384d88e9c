"""Is the simulated cluster a closed queueing network, does it resemble recorded runs, and what do rehearsals
decide?"""

from __future__ import annotations

from math import comb, factorial
from pathlib import Path
from statistics import mean, median

from scipy.stats import beta

from density_study.analysis.rehearsal.decisions import Decisions
from density_study.analysis.statistics.power import MAX_UNITS, MIN_UNITS
from density_study.cluster.model.host import Disk, Host
from density_study.cluster.providers.simulated.effects import Effects
from density_study.cluster.providers.simulated.noise import Noise
from density_study.cluster.providers.simulated.queueing import Station, solve
from density_study.cluster.providers.simulated.rehearsal import Rehearsal
from density_study.dags.stages.rehearsal import foreseen, rehearsed_plan
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.simulated.effects_file import named_effects
from density_study.workloads.simulated.models import model_of
from density_study.workloads.study.shipped import study_path
from density_study.workloads.study.study_file import parse_study, read_study
from tests.known_answers.answer import Answer, KnownAnswer

RECORDED_OPS_S = {"load": 8350.0, "read45-insert55": 7411.0, "scan95-insert5": 3244.0}
"""Of the run that service_times.toml names, with one worker."""
TIMES, TIMES_FIXED = 200, 60
GRIDS: dict[str, dict[str, object]] = {
    "the grid that it was before it asked questions": {
        "leave_out": [],
        "workloads": [
            {"testdfsio": {"modes": ["write", "read", "random", "backward", "skip"], "files": 72,
                           "file_size": "1 GiB", "read_size": "1 MiB",
                           "readers": [3, 6, 12, 24, 36, 48, 72]}},
            {"ycsb": {"records": [10_000_000, 30_000_000],
                      "mixes": ["load", "read45-insert55", "scan95-insert5"],
                      "threads": [3, 6, 12, 24, 48, 96], "latency_at": ["50%", "70%", "90%", "2000/s"],
                      "duration": "10 min", "warm_up": "60 s",
                      "noisy_neighbour": {"mix": "read45-insert55", "threads": 24,
                                          "neighbour_threads": 8}}},
        ],
    },
    "every test case that it has now on every variant": {"leave_out": []},
}  # fmt: skip
"""Fixed grids, by their names. Most of the 4,110 trials of five repetitions of the first serve no claim."""


def repairmen(service_s: float, think_s: float, servers: int, customers: int) -> float:
    """Rate of M/M/c//N by its balance equations."""
    weights = [
        comb(customers, n) * factorial(n) * (service_s / think_s) ** n
        / (factorial(min(n, servers)) * servers ** max(0, n - servers))
        for n in range(customers + 1)
    ]  # fmt: skip
    busy = sum(min(n, servers) * w for n, w in enumerate(weights)) / sum(weights)
    return busy / service_s


def theory() -> list[Answer]:
    cells = [(c, n) for c in (1, 2, 8, 64) for n in (1, 8, 96)]
    errors = [
        abs(solve((Station("cpu", 0.002, 1, c), Station("think", 0.01, servers=None)), n).rate
            / repairmen(0.002, 0.01, c, n) - 1)
        for c, n in cells
    ]  # fmt: skip
    balanced = [
        abs(solve((Station("disk", 0.004, k),), n).rate / (n * k / 0.004 / (n + k - 1)) - 1)
        for k in (1, 3, 40)
        for n in (1, 72, 700)
    ]
    return [
        Answer(f"cores and a pause against M/M/c//N, {len(cells)} cells: largest error of the rate",
               "at most 1e-6", f"{max(errors):.1g}", max(errors) <= 1e-6),
        Answer("equal stations against N / (D (N + K - 1)), 9 cells: the same", "at most 1e-6",
               f"{max(balanced):.1g}", max(balanced) <= 1e-6),
    ]  # fmt: skip


def recorded() -> list[Answer]:
    # as it was when it was recorded: with a load and scans
    text = study_path(Path("quickstart")).read_text(encoding="utf-8")
    mixes = "mixes: [load, scan95-insert5, "
    study = parse_study(text.replace("mixes: [", mixes), "quickstart.yaml").study
    host = Host(
        "here", "127.0.0.1", 2, 6144, (Disk("/data", "flash"),), ("master", "worker", "client")
    )
    topology = next(iter(make_plan(study, [host]).topologies.values()))
    rehearsal = Rehearsal(topology, Effects(), Noise(), 1)
    errors = {}
    for test_case in study.test_cases():
        if test_case.mode_name in RECORDED_OPS_S:
            rate = model_of(test_case).outcome(rehearsal, topology, test_case, 0.0).rate
            errors[test_case.mode_name] = rate / RECORDED_OPS_S[test_case.mode_name] - 1
    worst = max(map(abs, errors.values()))
    return [
        Answer("rates of the model over those of the recorded quickstart, three mixes", "within 15 %",
               ", ".join(f"{one:+.0%}" for one in errors.values()), len(errors) == 3 and worst <= 0.15)
    ]  # fmt: skip


def rehearsed_talk() -> list[Answer]:
    answers = []
    claims_s = _repetition_s({})
    each_s = {name: _repetition_s(keys) for name, keys in GRIDS.items()}
    for builds in (0.025, 0.05):
        found = _decided("talk", builds)
        spent_s, fixed = median(found.seconds), _equal(found, builds)
        # the goal is about the grid that was; of today's, the planner leaves out less
        for (name, grid_s), goal in zip(each_s.items(), (0.1, None), strict=True):
            share = spent_s / (fixed * grid_s)
            answers.append(
                Answer(
                    f"talk-2013, {builds:.1%} between builds: median machine time over that of {name}, "
                    "in the fewest fixed repetitions that decide as many claims rightly",
                    f"{'printed' if goal is None else f'at most {goal:.0%}'}; "
                    "five repetitions of what the claims need are "
                    f"{MIN_UNITS * claims_s / (fixed * grid_s):.0%}",
                    f"{spent_s / 3600:.0f} of {fixed} x {grid_s / 3600:.0f} h, {share:.1%}",
                    goal is None or share <= goal,
                )
            )
        asked = {one.question.partition(":")[0]: one.right for one in found.rows}
        low = {name: right for name, right in asked.items() if right is not None and right < 0.8}
        answers.append(
            Answer(
                f"talk-2013 with the talk's effects, {builds:.1%} between builds, {TIMES} rehearsals: claims "
                "decided rightly in less than 80 %",
                "none" if builds == 0.025 else "printed",
                ", ".join(f"{name} {right:.0%}" for name, right in low.items()) or "none",
                builds != 0.025 or not low,
            )
        )
    for builds in (0.025, 0.05):
        wrong = _decided("none", builds).wrong
        upper = float(beta.ppf(0.975, wrong + 1, TIMES - wrong))
        answers.append(
            Answer(
                f"the same without effects, {builds:.1%} between builds: reports with a wrong claim",
                "at most 5 %, upper bound at most 8 %",
                f"{wrong / TIMES:.1%}, upper bound {upper:.1%}",
                wrong <= 0.05 * TIMES and upper <= 0.08,
            )
        )
    return answers


def _repetition_s(keys: dict[str, object]) -> float:
    """Seconds of one repetition of the study with these keys."""
    file = read_study(study_path(Path("talk-2013")), {**keys, "repetitions": MIN_UNITS})
    return rehearsed_plan(file, Path("rehearsals")).estimate_s / MIN_UNITS


def _equal(found: Decisions, builds: float) -> int:
    """The fewest fixed repetitions that decide at least as many claims rightly, on average."""
    wanted = _right(found)
    return next(
        n
        for n in range(MIN_UNITS, MAX_UNITS)
        if _right(_decided("talk", builds, TIMES_FIXED, {"repetitions": n})) >= wanted
    )


def _right(found: Decisions) -> float:
    return mean(one.right for one in found.rows if one.right is not None)


def _decided(
    effects: str, builds: float, times: int = TIMES, keys: dict[str, object] | None = None
) -> Decisions:
    file = read_study(study_path(Path("talk-2013")), keys or {})
    noise = Noise(builds=builds)
    return foreseen(file, Path("rehearsals"), named_effects(effects), noise).decided(times)


KNOWN = (
    KnownAnswer("simulated-theory", "Is the simulated cluster a closed queueing network?", theory),
    KnownAnswer("simulated-recorded", "Does it resemble the run that its times are from?", recorded),
    KnownAnswer(
        "rehearsed-talk", "What does talk-2013 decide, and how often wrongly?", rehearsed_talk,
        quick=False,
    ),
)  # fmt: skip
