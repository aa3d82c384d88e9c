"""A comparison of runs for CI: JUnit XML for test reports, Markdown for job summaries and merge requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from density_study.analysis.comparison.compare import Change, RunComparison
from density_study.cluster.model.plain import escaped
from density_study.dags.stages.comparison import format_change

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HEADER = (
    "Outcome",
    "Test case",
    "Topology",
    "Measure",
    "Ratio",
    "95 % interval",
    "p",
    "Machine",
    "Memory",
)


def as_junit(compared: RunComparison) -> str:
    """A test case per number: a regression is a failure; what cannot be decided or compared is skipped."""
    suite = ElementTree.Element("testsuite", name=_text(f"study compare {compared.study}"))
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in (
        ("run", compared.run),
        ("baseline", ", ".join(compared.baseline)),
        ("tolerance", f"{compared.tolerance:.1%}"),
        ("result", compared.headline),
        *(("candidate cause", cause) for cause in compared.candidate_causes),
    ):
        ElementTree.SubElement(properties, "property", name=name, value=_text(value))
    for change in compared.changes:
        found = change.finding
        case = _case(suite, compared.study, f"{found.subject}, {found.among}: {found.measure}")
        said = _text(format_change(change))
        if change.outcome == "regression":
            causes = _text("\n".join(compared.candidate_causes))
            ElementTree.SubElement(case, "failure", message=said).text = f"{said}\n{causes}".strip()
        elif change.outcome in ("inconclusive", "acknowledged"):
            ElementTree.SubElement(case, "skipped", message=said)
        else:
            ElementTree.SubElement(case, "system-out").text = f"{change.outcome}: {said}"
    for name in compared.not_compared:
        why = "missing in a run, or measured with other parameters"
        ElementTree.SubElement(_case(suite, compared.study, name), "skipped", message=why)
    suite.set("tests", str(len(suite.findall("testcase"))))
    suite.set("failures", str(len(compared.regressions)))
    suite.set("errors", "0")
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ElementTree.Element, study: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", classname=_text(f"study.{study}"), name=_text(name)
    )


def _text(text: str) -> str:
    """Without the characters that XML 1.0 does not allow."""
    return _NOT_XML.sub("?", text)


def as_markdown(compared: RunComparison) -> str:
    return "\n".join(_markdown(compared)) + "\n"


def _markdown(compared: RunComparison) -> Iterator[str]:
    versus = ", ".join(compared.baseline)
    yield f"# {escaped(compared.study)}: run {escaped(compared.run)} compared with {escaped(versus)}\n"
    yield f"**{escaped(compared.headline)}**\n"
    if compared.changes:
        yield f"| {' | '.join(_HEADER)} |"
        yield f"|{'---|' * len(_HEADER)}"
        for change in compared.changes:
            yield f"| {' | '.join(map(escaped, _row(change)))} |"
        yield ""
    for name in compared.not_compared:
        yield f"- not compared: {escaped(name)}"
    for point in compared.change_points:
        level = f"{point.subject}: {point.ratio:.2f}x since run {point.run} (p = {point.p:.2g})"
        yield f"- change point: {escaped(level)}"
    for cause in compared.candidate_causes:
        yield f"- candidate cause: {escaped(cause)}"


def _row(change: Change) -> tuple[str, ...]:
    found = change.finding
    known = found.low is not None and found.high is not None
    return (
        change.outcome,
        found.subject or "",
        found.among or "",
        found.measure or "",
        "" if found.effect is None else f"{found.effect:.2f}x",
        f"{found.low:.2f} to {found.high:.2f}" if known else found.why,
        "" if found.p_adjusted is None else f"{found.p_adjusted:.2g}",
        *("" if one is None else f"{one:.2f}x" for one in (change.computing, change.memory)),
    )
