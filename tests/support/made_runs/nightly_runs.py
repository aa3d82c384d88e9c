"""Runs of a nightly study: their summaries, and folders as an analysed run leaves them."""

from __future__ import annotations

from pathlib import Path

from density_study.analysis.hub.files import HUB
from density_study.analysis.hub.page import rebuild
from density_study.analysis.summary.summary import Summary
from density_study.cluster.state.atomic import write_text
from density_study.cluster.state.journal import Journal
from density_study.workloads.planning.plan import write_plan
from tests.support.drafts import QUICKSTART, plan
from tests.support.summary_factory import one_block
from tests.support.variants import noisy, ycsb

MIXES = ("load", "read45-insert55", "scan95-insert5")


def nightly(
    run: int, ops_s: float = 100.0, builds: int = 8, p99_ms: float = 10.0, spread: float = 0.02,
    **changes: object,
) -> Summary:  # fmt: skip
    test_cases = tuple(
        ycsb(mix, ops_s=noisy(ops_s, builds, spread, (run, mix)),
             latencies={("READ", 99.0): noisy(p99_ms, builds, spread, (run, mix, "ms"))})
        for mix in MIXES
    )  # fmt: skip
    base = one_block("nightly")
    trial = base.trials[0].model_copy(update={"topology": "v1-flash", "build": "b1-v1-flash"})
    values = {"run": run_id(run), "test_cases": test_cases, "repetitions": builds, "trials": (trial,),
              "findings": (), "builds": ()}  # fmt: skip
    return base.model_copy(update={**values, **changes})


def run_id(run: int) -> str:
    return f"202611{run:02d}T020000Z"


def october(builds: int = 8) -> list[Summary]:
    """Runs in which nothing changed: they tell how much runs differ."""
    every = (nightly(100 + n, builds=builds) for n in range(1, 11))
    return [
        one.model_copy(update={"run": f"202610{n:02d}T020000Z"}) for n, one in enumerate(every, 1)
    ]


def write_run(folder: Path, summary: Summary) -> Path:
    root = folder / summary.study / summary.run
    write_text(root / "report" / "summary.json", summary.model_dump_json())
    Journal(root / "journal.jsonl").write("run-ended", outcome="ok", message="")
    return root


def whole(runs: Path, summary: Summary, outcome: str = "ok") -> Path:
    """A run with everything that an analysed run has, as far as the hub reads it."""
    root = write_run(runs, summary)
    journal = Journal(root / "journal.jsonl")
    journal.write("run-opened", study=summary.study, run=summary.run, tag="t/1")
    journal.write("run-ended", outcome=outcome, message="")
    text = QUICKSTART.read_text().replace("study: quickstart", f"study: {summary.study}")
    (root / "study.yaml").write_text(text)
    write_plan(plan(), root / "plan.json")
    (root / "report" / "index.html").write_text("the report")
    return root


def hub(runs: Path) -> str:
    rebuild(runs)
    return (runs / HUB).read_text()
