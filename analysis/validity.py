"""Each trial's verdict: Great Expectations over the table of checks, by `analysis.rules`.

Failure beats unknown beats valid. A check that could not run, or that crashed, leaves a trial
unknown; it never lets one pass.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

os.environ["GX_ANALYTICS_ENABLED"] = "false"  # read when the library is imported, here below

import great_expectations as gx
import great_expectations.expectations as gxe
import pandas as pd
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.expectations.row_conditions import Column

from analysis.rules import RULES, Rule
from analysis.tables import CHECKS

SEVERITY = ("valid", "unknown", "invalid")


@dataclass(frozen=True)
class Strike:
    """A rule that a trial broke, or whose check could not run on it."""

    trial: str
    verdict: str
    reason: str
    missing: bool = False


def decide(checks: pd.DataFrame, rules: Sequence[Rule] = RULES) -> pd.DataFrame:
    """Rows of `verdicts` (trial, verdict, reasons) for rows of `checks`, one each, whatever happens
    within the library."""
    if checks.empty:
        return pd.DataFrame({"trial": [], "verdict": [], "reasons": []})
    strikes: dict[str, list[Strike]] = {trial: [] for trial in checks["trial"]}
    for strike in _strikes(_typed(checks), rules):
        strikes[strike.trial].append(strike)
    strikes = {trial: _telling(found) for trial, found in strikes.items()}
    return pd.DataFrame(
        {
            "trial": list(strikes),
            "verdict": [_worst(found) for found in strikes.values()],
            "reasons": [[strike.reason for strike in found] for found in strikes.values()],
        }
    )


def _telling(strikes: list[Strike]) -> list[Strike]:
    """Without what is missing, if something is wrong: of a failed trial much is missing, and why it
    failed says it all. The verdict stays what it was."""
    wrong = [strike for strike in strikes if not strike.missing]
    return wrong if _worst(wrong) == "invalid" else strikes


def _typed(checks: pd.DataFrame) -> pd.DataFrame:
    """Numbers as floats with NaN for null, whatever mixture Parquet gave back."""
    numbers = {c.name: "float64" for c in CHECKS.columns if c.type in ("int", "long", "double")}
    return checks.astype({name: kind for name, kind in numbers.items() if name in checks})


def _worst(strikes: Iterable[Strike]) -> str:
    return max((strike.verdict for strike in strikes), key=SEVERITY.index, default="valid")


def expectations(rules: Sequence[Rule]) -> list[gxe.Expectation]:
    """Two for a rule: the value is allowed, and (unless its absence is normal) there is one."""
    built: list[gxe.Expectation] = []
    for number, rule in enumerate(rules):
        common: dict[str, Any] = {"column": rule.check}
        if rule.only is not None:
            common["row_condition"] = Column(rule.only) == rule.equal
        meta = {"rule": number, "null": False}
        if rule.allowed is not None:
            allowed = list(rule.allowed)
            built.append(gxe.ExpectColumnValuesToBeInSet(**common, value_set=allowed, meta=meta))
        else:
            built.append(
                gxe.ExpectColumnValuesToBeBetween(
                    **common, min_value=rule.low, max_value=rule.high, meta=meta
                )
            )
        if rule.null == "unknown":
            meta = {"rule": number, "null": True}
            built.append(gxe.ExpectColumnValuesToNotBeNull(**common, meta=meta))
    return built


def _strikes(checks: pd.DataFrame, rules: Sequence[Rule]) -> Iterator[Strike]:
    rows = {row["trial"]: row for row in checks.to_dict("records")}
    results = sorted(_validate(checks, rules), key=lambda result: _meta(result)["rule"])
    for result in results:
        meta = _meta(result)
        rule = rules[meta["rule"]]
        if _crashed(result):
            reason = f"the check {rule.check!r} could not run"
            yield from (Strike(trial, "unknown", reason) for trial in rows)
            continue
        for broken in result.result["unexpected_index_list"]:
            yield _strike(rule, rows[broken["trial"]], null=meta["null"])


def _validate(checks: pd.DataFrame, rules: Sequence[Rule]) -> Iterable[Any]:
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    source = context.data_sources.add_pandas("tables")
    asset = source.add_dataframe_asset("checks")
    batch = asset.add_batch_definition_whole_dataframe("run").get_batch({"dataframe": checks})
    suite = context.suites.add(gx.ExpectationSuite("trials", expectations=expectations(rules)))
    found = batch.validate(
        suite,
        result_format={
            "result_format": "COMPLETE",
            "unexpected_index_column_names": ["trial"],
        },
    )
    if len(found.results) != len(suite.expectations):
        raise RuntimeError("Great Expectations left out expectations of the suite")
    results: Iterable[Any] = found.results
    return results


def _meta(result: Any) -> dict[str, Any]:
    meta: dict[str, Any] = result.expectation_config.meta
    return meta


def _crashed(result: Any) -> bool:
    """An expectation that raised has no list of rows it failed on."""
    return result.result.get("unexpected_index_list") is None and not result.success


def _strike(rule: Rule, row: Mapping[Any, Any], *, null: bool) -> Strike:
    if null:
        return Strike(row["trial"], "unknown", rule.missing, missing=True)
    verdict = "valid" if rule.broken == "flag" else rule.broken
    return Strike(row["trial"], verdict, rule.reason.format(**row))
