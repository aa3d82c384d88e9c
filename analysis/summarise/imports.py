"""What is known of records that others made: for the summary, and as warnings beside its headline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from density_study.analysis.summary.summary import ImportSummary, SummaryWarning, TrialSummary
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.recorded import Imported


def import_summary(manifests: Sequence[Manifest]) -> ImportSummary | None:
    """None for a run whose records this program made."""
    imported = [manifest.imported for manifest in manifests if manifest.imported]
    if not imported:
        return None
    return ImportSummary(
        files=len({source.file for one in imported for source in one.sources.values()}),
        given=_counts(imported, "given"),
        unknown=_counts(imported, "unknown"),
        accepted={check: why for one in imported for check, why in one.accepted.items()},
    )


def import_warnings(
    summary: ImportSummary | None, trials: Sequence[TrialSummary]
) -> Iterator[SummaryWarning]:
    if summary is None:
        return
    parts = ["Others made these records, and this program imported them"]
    parts += [f"unknown: {_words(summary.unknown)}"] if summary.unknown else []
    parts += [f"known only from the map: {_words(summary.given)}"] if summary.given else []
    yield SummaryWarning(
        code="imported",
        message=f"{'; '.join(parts)} (numbers of trials).",
        remedy="Add to the map what you know, and import again; `study import --help` has the steps.",
    )
    unknown = sum(trial.counted and trial.verdict == "unknown" for trial in trials)
    if unknown:
        have = "trial has" if unknown == 1 else "trials have"
        yield SummaryWarning(
            code="unknown-trials",
            message=f"{unknown} of {len(trials)} {have} the verdict unknown only because nobody recorded "
            "what a check needs. Their numbers are shown, and support no claim.",
            remedy="See the reasons under Validity and trials.",
        )
    for check, why in summary.accepted.items():
        yield SummaryWarning(
            code="accepted-unknown",
            subject=check,
            level="info",
            message=f"The map accepts {check} as unknown: {why}",
        )


def _counts(imported: Sequence[Imported], name: str) -> dict[str, int]:
    return dict(Counter(fact for one in imported for fact in getattr(one, name)).most_common())


def _words(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{fact} {count}" for fact, count in counts.items())
