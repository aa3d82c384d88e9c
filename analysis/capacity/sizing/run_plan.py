"""The plan of a run: fitted to its tables, stored beside its report as model.json and capacity-plan.json."""

from __future__ import annotations

from pathlib import Path

from density_study.analysis.capacity.curves.fit import fit
from density_study.analysis.capacity.curves.model import write_model
from density_study.analysis.capacity.inputs.catalogue import read_catalogue
from density_study.analysis.capacity.inputs.profile import read_profile
from density_study.analysis.capacity.inputs.question import Question
from density_study.analysis.capacity.inputs.run_points import run_points
from density_study.analysis.capacity.plan.plan import PLAN, Excuse, Plan, utc_now
from density_study.analysis.capacity.sizing.size import size
from density_study.cluster.model.errors import InputError
from density_study.cluster.state.atomic import write_text


def plan_run(run_root: Path, question: Question, profile_name: str, hosts: Path) -> Plan | Excuse:
    """Fit the run's tables, size the cluster, and write both beside the report. A run without enough
    points gives an excuse; bad profiles and catalogues are InputErrors."""
    profile, catalogue = read_profile(profile_name), read_catalogue(hosts)
    found: Plan | Excuse
    try:
        model = fit(run_points(run_root), [str(run_root)])
        write_model(model, run_root / "report" / "model.json")
        found = size(question, model, profile, catalogue)
    except InputError as error:
        found = Excuse(
            created=utc_now(),
            requested=f"{question.genomes_per_day:g} genomes/day of {profile.profile}",
            slos=question.slos,
            reasons=(f"{error.where}: {error.what}",),
            next_steps=(error.remedy,),
        )
    write_text(run_root / "report" / PLAN, found.model_dump_json(indent=1) + "\n")
    return found
