"""Warnings about the programs that were measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.analysis.summarise.software import quick_compilers
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.study.study_file import parse_study
from tests.support.drafts import host

STUDY = Path("tests/support/quickstart.yaml")


@pytest.mark.parametrize(
    ("stack", "codes"), [("", []), (", jit: full", []), (", jit: c1", ["c1-only"])]
)
def test_a_study_whose_jvms_have_c1_alone_says_so(stack: str, codes: list[str]) -> None:
    text = STUDY.read_text()
    assert "replication: 1}" in text
    study = parse_study(text.replace("replication: 1}", f"replication: 1{stack}}}"), "s.yaml").study
    plan = make_plan(study, [host(memory_mib=8192)])
    assert [one.code for one in quick_compilers(plan.topologies.values())] == codes
