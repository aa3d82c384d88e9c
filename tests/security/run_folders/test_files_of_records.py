"""Files of a stranger's run that commands read beside its journal: plain, bounded and of their form, or an
error that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.analysis.capacity.plan.plan import PLAN as CAPACITY_PLAN
from density_study.analysis.capacity.plan.plan import plan_beside
from density_study.analysis.comparison.acknowledged import FILE as ACKNOWLEDGED
from density_study.analysis.comparison.acknowledged import read_acknowledged
from density_study.cluster.model.errors import StudyError
from density_study.jobs.ingest import ingest_state
from density_study.workloads.record.record import MANIFEST, closed_records, earlier_attempts
from density_study.workloads.rows.raw.manifest_rows import manifests_of
from tests.support.hostile.files import HOSTILE

TRIAL = "b1-v1-flash-load"


pytestmark = pytest.mark.usefixtures("watchdog")


def made(path: Path, how: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    HOSTILE[how](path)
    return path


@pytest.mark.parametrize("how", HOSTILE)
def test_a_manifest_that_cannot_be_read_is_named(how: str, tmp_path: Path) -> None:
    path = made(tmp_path / "records" / TRIAL / MANIFEST, how)
    for read in (lambda: closed_records(tmp_path / "records"), lambda: manifests_of(tmp_path)):
        with pytest.raises(StudyError, match=r"cannot read a manifest|has format") as caught:
            read()
        assert caught.value.where == str(path) and caught.value.remedy


@pytest.mark.parametrize("how", HOSTILE)
def test_the_digests_of_tables_are_believed_or_made_anew(how: str, tmp_path: Path) -> None:
    path = made(tmp_path / "tables" / "ingested.json", how)
    try:
        assert ingest_state.read(tmp_path) == {}
    except StudyError as error:
        assert str(path) in str(error) and error.remedy


@pytest.mark.parametrize("how", HOSTILE)
def test_a_plan_and_acknowledgements_beside_results_are_named(how: str, tmp_path: Path) -> None:
    for path, read in (
        (tmp_path / "report" / CAPACITY_PLAN, plan_beside),
        (tmp_path / ACKNOWLEDGED, read_acknowledged),
    ):
        made(path, how)
        with pytest.raises(StudyError) as caught:
            read(tmp_path)
        assert caught.value.where == str(path) and caught.value.remedy


def test_names_of_others_among_earlier_attempts_are_left_out(tmp_path: Path) -> None:
    for name in (f"{TRIAL}.x", "x", f"{TRIAL}.", ".1"):
        made(tmp_path / "records.superseded" / name / MANIFEST, "number")
    with pytest.raises(StudyError, match="cannot read a manifest"):  # of ".1"
        earlier_attempts(tmp_path / "records")
