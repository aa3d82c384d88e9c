"""The trials of a run: their counts by verdict, the reasons for these, and their drill-downs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from density_study.analysis.report.charts.figure import DataTable, columns
from density_study.analysis.report.charts.observations import View
from density_study.analysis.summary.summary import Metric, Summary, TrialSummary
from density_study.analysis.validity.rules import remedy_of
from density_study.workloads.study.metrics import main_rates

MOST_SHOWN = 6
VERDICTS = ("valid", "invalid", "unknown")
_WORST_FIRST = ("invalid", "unknown", "valid")


def counts(verdicts: Iterable[str]) -> str:
    """12 valid, 1 invalid, 1 unknown."""
    counted = Counter(verdicts)
    return ", ".join(f"{counted[name]} {name}" for name in VERDICTS if counted[name]) or "no trials"


def counts_by_variant(summary: Summary) -> dict[tuple[str, str], str]:
    """Counts of verdicts by topology and test case: '4 valid (1 with warnings), 1 invalid'."""
    found: dict[tuple[str, str], list[TrialSummary]] = {}
    for trial in summary.trials:
        found.setdefault((trial.topology, trial.test_case), []).append(trial)
    return {variant: counted(trials) for variant, trials in found.items()}


def counted(trials: Sequence[TrialSummary]) -> str:
    """'4 valid (1 with warnings), 1 invalid'."""
    warned = sum(trial.has_warnings for trial in trials)
    text = counts(trial.verdict for trial in trials)
    if not warned:
        return text
    valid = f"{sum(trial.verdict == 'valid' for trial in trials)} valid"
    return text.replace(valid, f"{valid} ({warned} with warnings)", 1)


def reasons(summary: Summary) -> DataTable:
    """Why trials are not valid: a row per reason and verdict, invalid before unknown, then by frequency. Then
    a row per flag of valid trials, with one of its texts: those of other trials differ in their numbers."""
    texts: dict[tuple[str, str], Counter[str]] = {}
    for trial in summary.trials:
        for why in trial.reasons:
            key = why.partition(":")[0] if trial.verdict == "valid" else why
            texts.setdefault((trial.verdict, key), Counter())[why] += 1
    ordered = sorted(
        texts.items(), key=lambda one: (_WORST_FIRST.index(one[0][0]), -one[1].total(), one[0][1])
    )
    header = columns("Reason | Verdict | Trials | What to do")
    imported = summary.imported is not None
    rows = tuple(
        (
            _example(said),
            verdict,
            str(said.total()),
            remedy_of(said.most_common(1)[0][0], imported).replace("SPEC", summary.spec),
        )
        for (verdict, _), said in ordered
    )
    return DataTable(header, rows)


def _example(said: Counter[str]) -> str:
    """The most frequent text, and how many trials have another one."""
    ((text, count),) = said.most_common(1)
    others = said.total() - count
    return f"{text}; {others} more with other numbers" if others else text


def number(trial: TrialSummary) -> int:
    """Its place in the order in which trials ran, from 1 as in `study plan`."""
    return trial.order + 1


def courses(view: View) -> dict[str, tuple[int, str]]:
    """Each trial that has a series, in the order they ran: the series' index, and a label."""
    places = {series.trial: place for place, series in enumerate(view.summary.series)}
    return {
        one.trial: (
            places[one.trial],
            f"{number(one)}: {view.labels[one.test_case]}, {view.density_in_words(one.vms_per_host)}, "
            f"{view.disk_type(one.disk_type)}, repetition {one.repetition} ({one.verdict})",
        )
        for one in sorted(view.summary.trials, key=lambda trial: trial.order)
        if one.trial in places
    }


def slow_seconds(view: View) -> DataTable:
    """The slow spells of trials that devices watched, and what moved with them; a row per spell."""
    header = columns("Trial | Cause | Slow seconds, and what moved with them")
    orders = {trial.trial: trial for trial in view.summary.trials}
    rows = [
        (
            f"{number(trial)}: {view.labels[trial.test_case]}",
            spell.cause or "none found",
            spell.sentence,
        )
        for series in view.summary.series
        if (trial := orders.get(series.trial)) is not None
        for spell in series.slow
    ]
    return DataTable(header, tuple(rows))


def main_rate(metrics: Sequence[Metric]) -> Metric | None:
    return next((one for one in metrics if one.name in main_rates()), None)


def slowest_p99(metrics: Sequence[Metric]) -> Metric | None:
    """The p99 of the slowest operation; its intended latency if there is any, because closed-loop latency
    hides waiting. A value that is not known comes last."""
    found = [one for one in metrics if one.name == "latency" and one.percentile == 99.0]
    intended = [one for one in found if one.latency_kind == "intended"]
    return max(intended or found, key=lambda one: one.value or 0.0, default=None)


def host_cpu(metrics: Sequence[Metric]) -> list[Metric]:
    """Used CPU of each host."""
    return [m for m in metrics if m.name == "cpu_used" and (m.scope or "").startswith("host:")]


def shown_scopes(metrics: Sequence[Metric]) -> frozenset[str | None]:
    """Scopes whose used CPU a page shows. Where more than MOST_SHOWN are hosts, or nodes, these are the least
    used, the median and the most used one, and one that is unknown: seventy nodes would be a cloud of
    points, and megabytes."""
    by_kind: dict[str, list[Metric]] = {}
    for one in metrics:
        if one.name == "cpu_used":
            by_kind.setdefault((one.scope or "").partition(":")[0], []).append(one)
    shown: list[Metric] = []
    for several in by_kind.values():
        if len(several) > MOST_SHOWN:
            known = [one for one in several if one.value is not None]
            known.sort(key=lambda one: one.value or 0.0)
            shown += [one for one in several if one.value is None][:1]
            shown += [known[n] for n in {0, len(known) // 2, len(known) - 1}] if known else []
        else:
            shown += several
    return frozenset(one.scope for one in shown)
