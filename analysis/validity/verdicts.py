"""Each trial's verdict: Great Expectations applies `analysis.validity.rules` to the table of checks.

Invalid outranks unknown, and unknown outranks valid. A check that crashed or could not run makes a trial
unknown; it never passes.

In a record of this program, a missing fact means that something broke. In a record that others made, nobody
may have recorded the fact. There it weighs no more than the violation that it could hide: it is a flag where
a violation is a flag, and otherwise the verdict is unknown. Such a trial is counted (its numbers are shown)
but supports no claim, unless the map accepts the check as unknown. The same holds for what a given cluster
(provider `existing`) does not show.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ["GX_ANALYTICS_ENABLED"] = "false"  # read when the library is imported below

import great_expectations as gx
import great_expectations.expectations as gxe
import pandas as pd
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.expectations.row_conditions import Column

from density_study.analysis.tables import CHECKS
from density_study.analysis.validity.data_docs import make_plain
from density_study.analysis.validity.provisional import SEVERITY
from density_study.analysis.validity.rules import RULES, Rule

_SITE = "data_docs"


@dataclass(frozen=True)
class RuleViolation:
    """A rule that a trial violates, or that could not be checked. excused: nobody could have recorded the
    fact that is missing."""

    trial: str
    verdict: str
    reason: str
    missing: bool = False
    excused: bool = False


def decide(
    checks: pd.DataFrame, rules: Sequence[Rule] = RULES, docs: Path | None = None
) -> pd.DataFrame:
    """A row of `verdicts` for each row of `checks`, whatever the library does.

    docs: the folder for Great Expectations' pages of results (Data Docs); its old content is replaced.
    """
    if checks.empty:
        return pd.DataFrame({"trial": [], "verdict": [], "counted": [], "reasons": []})
    found: dict[str, list[RuleViolation]] = {trial: [] for trial in checks["trial"]}
    for violation in _violations(_typed(checks), rules, docs):
        found[violation.trial].append(violation)
    relevant = [_relevant(violations) for violations in found.values()]
    return pd.DataFrame(
        {
            "trial": list(found),
            "verdict": [_worst(violations) for violations in relevant],
            "counted": [_is_counted(violations) for violations in relevant],
            "reasons": [[violation.reason for violation in each] for each in relevant],
        }
    )


def _relevant(violations: list[RuleViolation]) -> list[RuleViolation]:
    """For an invalid trial only the violated rules, without those that could not be checked: a failed
    trial lacks many values. The verdict does not change."""
    wrong = [violation for violation in violations if not violation.missing]
    return wrong if _worst(wrong) == "invalid" else violations


def _typed(checks: pd.DataFrame) -> pd.DataFrame:
    """Numbers as floats with NaN for null, whatever types Parquet returns."""
    numbers = {c.name: "float64" for c in CHECKS.columns if c.type in ("int", "long", "double")}
    return checks.astype({name: kind for name, kind in numbers.items() if name in checks})


def _worst(violations: Iterable[RuleViolation]) -> str:
    return max((violation.verdict for violation in violations), key=SEVERITY.index, default="valid")


def _is_counted(violations: Sequence[RuleViolation]) -> bool:
    deciding = [violation for violation in violations if violation.verdict != "valid"]
    return all(one.excused for one in deciding)


def _missing(row: Mapping[Any, Any], rule: Rule) -> RuleViolation:
    """A fact that the rule needs and the record lacks."""
    verdict, reason = "unknown", rule.missing
    excused = bool(row["imported"] or (row["given"] and rule.unseen))
    if excused and rule.check in row["accepted"]:
        verdict, reason = "valid", f"accepted: {rule.missing}"
    elif excused and rule.broken == "flag":
        verdict, reason = "valid", f"unchecked: {rule.missing}"
    return RuleViolation(row["trial"], verdict, reason, missing=True, excused=excused)


def suites(rules: Sequence[Rule]) -> dict[str, list[gxe.Expectation]]:
    """Expectations by suite, in the rules' order. A rule has two: its value is allowed, and (unless a
    null is normal) it is not null."""
    found: dict[str, list[gxe.Expectation]] = {}
    for number, rule in enumerate(rules):
        built = found.setdefault(rule.suite, [])
        common: dict[str, Any] = {"column": rule.check}
        if rule.only is not None:
            common["row_condition"] = Column(rule.only) == rule.equal
        notes = f"{rule.reason}. Remedy: {rule.remedy}"  # shown in Data Docs
        meta = {"rule": number, "null": False, "notes": notes}
        if rule.allowed is not None:
            limits = {"value_set": rule.allowed}
            built.append(gxe.ExpectColumnValuesToBeInSet(**common, **limits, meta=meta))
        else:
            bounds = {"min_value": rule.low, "max_value": rule.high}
            built.append(gxe.ExpectColumnValuesToBeBetween(**common, **bounds, meta=meta))
        if rule.null == "unknown":
            meta = {"rule": number, "null": True}
            built.append(gxe.ExpectColumnValuesToNotBeNull(**common, meta=meta))
    return found


def _violations(
    checks: pd.DataFrame, rules: Sequence[Rule], docs: Path | None
) -> Iterator[RuleViolation]:
    rows = {row["trial"]: row for row in checks.to_dict("records")}
    results = _validate(checks, rules, docs)
    for result in sorted(results, key=lambda result: result.expectation_config.meta["rule"]):
        meta: dict[str, Any] = result.expectation_config.meta
        rule = rules[meta["rule"]]
        verdict = "valid" if rule.broken == "flag" else rule.broken
        if result.result.get("unexpected_index_list") is None and not result.success:  # it raised
            reason = f"the check {rule.check!r} could not run"
            yield from (RuleViolation(trial, "unknown", reason) for trial in rows)
            continue
        for broken in result.result["unexpected_index_list"]:
            row: Mapping[Any, Any] = rows[broken["trial"]]
            if meta["null"]:
                yield _missing(row, rule)
            else:
                yield RuleViolation(row["trial"], verdict, rule.reason.format(**row))


def _validate(checks: pd.DataFrame, rules: Sequence[Rule], docs: Path | None) -> list[Any]:
    """The result of every expectation of every suite."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    asset = context.data_sources.add_pandas("tables").add_dataframe_asset("checks")
    run = asset.add_batch_definition_whole_dataframe("run")
    detail = {"result_format": "COMPLETE", "unexpected_index_column_names": ["trial"]}
    wanted = suites(rules)
    results = []
    for name, built in wanted.items():
        suite = context.suites.add(gx.ExpectationSuite(name, built))
        validation = gx.ValidationDefinition(name=name, data=run, suite=suite)
        rows = {"dataframe": _used(checks, [rule for rule in rules if rule.suite == name])}
        results += validation.run(batch_parameters=rows, result_format=detail).results
    if docs is not None:
        _build_docs(context, docs)
    # an expectation that is silently dropped would let its trials pass
    if len(results) != sum(len(built) for built in wanted.values()):
        raise RuntimeError("Great Expectations left out expectations of a suite")
    return results


def _used(checks: pd.DataFrame, rules: Sequence[Rule]) -> pd.DataFrame:
    """The columns that the rules read. For each row condition, the library has pandas prepare every column
    of the frame: with all columns, that was half of its time."""
    names = {"trial", *(name for rule in rules for name in (rule.check, rule.only))}
    return checks[[name for name in checks if name in names]]


def _build_docs(context: Any, docs: Path) -> None:
    """Pages of this validation only, not of earlier ones."""
    with tempfile.TemporaryDirectory(dir=docs.parent, prefix=".data_docs.") as aside:
        folder = Path(aside) / "new"
        store = {
            "class_name": "TupleFilesystemStoreBackend",
            "base_directory": str(folder.absolute()),
        }
        site = {
            "class_name": "SiteBuilder",
            "show_how_to_buttons": False,
            "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
            "store_backend": store,
        }
        context.add_data_docs_site(site_name=_SITE, site_config=site)
        context.build_data_docs(site_names=[_SITE])
        make_plain(folder)
        if docs.exists():
            docs.rename(Path(aside) / "old")
        folder.rename(docs)
