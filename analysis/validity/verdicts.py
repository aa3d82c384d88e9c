"""Verdicts confirmed by another judge: Great Expectations validates the table of checks.

`analysis.validity.judge` decides. The library finds the rows that violate the same rules by its own
code, and writes its pages of results. Both must name the same trials for each rule; else it is an error.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ["GX_ANALYTICS_ENABLED"] = "false"  # read when the library is imported below

import great_expectations as gx
import great_expectations.expectations as gxe
import pandas as pd
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.expectations.row_conditions import Column

from density_study.analysis.validity.data_docs import make_plain
from density_study.analysis.validity.judge import Facts, Judgement
from density_study.analysis.validity.rules import RULES, Rule
from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.file_fault import full_disk
from density_study.workloads.tables import CHECKS

_SITE = "data_docs"
SATISFIED, VIOLATED, UNKNOWN = "satisfied", "violated", "unknown"
NOT_RUN = "the check could not run"
Found = dict[tuple[str, int], str]
"""By trial and place of the rule, what was found; nothing where the rule is satisfied, or does not apply."""


def confirm(checks: Sequence[Facts], judged: Sequence[Judgement], docs: Path | None = None) -> None:
    """StudyError if Great Expectations finds another judgement than that of each row of `checks`.

    docs: the folder for its pages of results (Data Docs); its old content is replaced.
    """
    if not checks:
        return
    ours: Found = {
        (facts["trial"], one.rule): UNKNOWN if one.missing else VIOLATED
        for facts, judgement in zip(checks, judged, strict=True)
        for one in judgement.findings
    }
    _require_agreement(ours, _by_the_library(_typed(pd.DataFrame(list(checks))), docs))


def _typed(checks: pd.DataFrame) -> pd.DataFrame:
    """Numbers as floats with NaN for null, whatever types Parquet returns."""
    numbers = {c.name: "float64" for c in CHECKS.columns if c.type in ("int", "long", "double")}
    return checks.astype({name: kind for name, kind in numbers.items() if name in checks})


def _require_agreement(ours: Found, library: Found) -> None:
    differing = sorted(
        key for key in ours.keys() | library.keys() if ours.get(key) != library.get(key)
    )
    if not differing:
        return
    trial, place = differing[0]
    own, other = (found.get((trial, place), SATISFIED) for found in (ours, library))
    more = f" (and {len(differing) - 1} more)" if len(differing) > 1 else ""
    raise StudyError(
        f"two judges disagree about the rule `{RULES[place].check}` ({RULES[place].suite}){more}: by the "
        f"project's judge it is {own}, by Great Expectations {other}.",
        trial,
        "report it as a bug, with the run's table `checks`.",
    )


def suites() -> dict[str, list[gxe.Expectation]]:
    """Expectations by suite, in the rules' order. A rule has two: its value is allowed, and (unless a
    null is normal) it is not null."""
    found: dict[str, list[gxe.Expectation]] = {}
    for number, rule in enumerate(RULES):
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


def _by_the_library(checks: pd.DataFrame, docs: Path | None) -> Found:
    found: Found = {}
    for result in _validate(checks, docs):
        meta: dict[str, Any] = result.expectation_config.meta
        if result.result.get("unexpected_index_list") is None and not result.success:  # it raised
            found |= {(trial, meta["rule"]): NOT_RUN for trial in checks["trial"]}
            continue
        for row in result.result["unexpected_index_list"]:
            found.setdefault((row["trial"], meta["rule"]), UNKNOWN if meta["null"] else VIOLATED)
    return found


def _validate(checks: pd.DataFrame, docs: Path | None) -> list[Any]:
    """The result of every expectation of every suite."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    asset = context.data_sources.add_pandas("tables").add_dataframe_asset("checks")
    run = asset.add_batch_definition_whole_dataframe("run")
    detail = {"result_format": "COMPLETE", "unexpected_index_column_names": ["trial"]}
    wanted = suites()
    results = []
    for name, built in wanted.items():
        suite = context.suites.add(gx.ExpectationSuite(name, built))
        validation = gx.ValidationDefinition(name=name, data=run, suite=suite)
        rows = {"dataframe": _used(checks, [rule for rule in RULES if rule.suite == name])}
        results += validation.run(batch_parameters=rows, result_format=detail).results
    if docs is not None:
        _build_docs(context, docs, len(wanted))
    # an expectation that is silently dropped would let its trials pass
    if len(results) != sum(len(built) for built in wanted.values()):
        raise RuntimeError("Great Expectations left out expectations of a suite")
    return results


def _used(checks: pd.DataFrame, rules: Sequence[Rule]) -> pd.DataFrame:
    """The columns that the rules read. For each row condition, the library has pandas prepare every column
    of the frame: with all columns, that was half of its time."""
    names = {"trial", *(name for rule in rules for name in (rule.check, rule.only))}
    return checks[[name for name in checks if name in names]]


def _build_docs(context: Any, docs: Path, suites: int) -> None:
    """Pages of this validation only, not of earlier ones. StudyError if one could not be written."""
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
        missing = 2 * suites - len(
            [*folder.glob("*/**/*.html")]
        )  # the library only logs a failed write
        if missing:
            raise full_disk(docs.parent) or StudyError(
                f"{missing} pages of Great Expectations' Data Docs could not be written.",
                str(docs),
                "check the disk and this user's quota, then run the same command again.",
            )
        make_plain(folder)
        if docs.exists():
            docs.rename(Path(aside) / "old")
        folder.rename(docs)
