"""`write_plan_page`: a plan as one HTML file that needs no network, no script and no server."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from density_study.analysis.capacity.plan.operations import (
    OperationsPlan,
    changed_words,
    operations_facts,
    operations_sentence,
)
from density_study.analysis.capacity.plan.plan import Excuse, Plan, facts, plan_sentence, spread
from density_study.analysis.capacity.plan.words import resource_words
from density_study.analysis.report.html import policy, static, templates
from density_study.analysis.report.plan_page.curves import figures
from density_study.cluster.state.atomic import write_text


def write_plan_page(plan: Plan | OperationsPlan | Excuse, path: Path) -> None:
    """Write the page, atomically."""
    write_text(path, render(plan))


def render(plan: Plan | OperationsPlan | Excuse) -> str:
    """The whole page."""
    return _environment().get_template("plan.html.j2").render(
        plan=plan,
        sentence=_sentence(plan),
        figures=() if isinstance(plan, Excuse) else figures(plan.curves),
        created=plan.created,
        css=Markup(static("report.css") + static("hub.css")),
        policy=policy(()),
    )  # fmt: skip


def _sentence(plan: Plan | OperationsPlan | Excuse) -> str:
    if isinstance(plan, Excuse):
        return f"No plan for {plan.requested}."
    return plan_sentence(plan) if isinstance(plan, Plan) else operations_sentence(plan)


@cache
def _environment() -> Environment:
    environment = templates()
    environment.globals |= {"plan_facts": facts, "plan_sentence": plan_sentence, "spread": spread}
    environment.globals |= {"resource_words": resource_words}
    environment.globals |= {"operations_facts": operations_facts, "changed_words": changed_words}
    return environment
