"""The generated pages agree with the code."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from density_study.analysis.validity.rules import RULES
from density_study.dags.airflow_home.home import project_root
from density_study.workloads.study.schema import study_schema
from docs.generator import recording, sample
from docs.generator.cli_page import commands
from docs.generator.pages import FOLDER, environment_variables, pages
from docs.generator.rehearsed import known

CHECKOUT = project_root()
STUDIES = sorted((CHECKOUT / "workloads" / "studies").glob("*.yaml"))
SCHEMA = Draft202012Validator(study_schema())
OWN = re.compile(r"(DENSITY_STUDY|STUDY)_[A-Z_]+")
ROOMS = ("cluster", "workloads", "analysis", "jobs", "dags")


def test_generated_pages_are_not_in_git() -> None:
    """`make docs` builds them, and so they are never stale."""
    argv = ["git", "ls-files", FOLDER]
    assert not subprocess.run(argv, cwd=CHECKOUT, capture_output=True, check=True).stdout
    assert all(text.strip() for text in pages().values())


def test_twelve_shipped_studies_decide_a_question_and_the_others_say_that_they_only_show() -> None:
    text = pages()["shipped-studies.md"]
    deciding = set(re.findall(r"^\| `([\w-]+)` \|", text, re.M))
    assert len(deciding) >= 12
    for path in STUDIES:
        first = path.read_text(encoding="utf-8").splitlines()[1]
        assert ("only shows" in first) == (path.stem not in deciding), path.stem
        assert f"\n| {path.stem} | " in text, "every study is listed"


def test_studies_that_decide_are_rehearsed_as_they_are_shipped() -> None:
    """Or `python -m docs.generator.rehearsed NAME` rehearses them again."""
    text = pages()["shipped-studies.md"]
    assert re.findall(r"^\| `([\w-]+)` \|.*\| not rehearsed \|", text, re.M) == []
    rightly = {
        name: share for one in known().values() for name, share in one.get("right", {}).items()
    }
    assert len(rightly) >= 12
    assert {name for name, share in rightly.items() if share < 0.8} == set()


def test_a_recording_keeps_what_it_has_when_a_command_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the last whole one, marked."""
    monkeypatch.setattr(recording, "COMMANDS", ("study example", "study plan absent", "study list"))
    monkeypatch.setattr(recording, "CAST", tmp_path / "first.cast")
    monkeypatch.setattr(recording.sys, "argv", ["recording", "record"])
    with pytest.raises(SystemExit, match=r"study plan absent exited with 2; .*failed\.cast"):
        recording.main()
    header, events = recording.read_cast(tmp_path / "first.failed.cast")
    assert str(header["title"]).endswith("(failed: study plan absent exited with 2)")
    text = "".join(text for _, text in events)
    assert text.startswith("$ study example\n") and "\nquickstart\n" in text and "remedy: " in text
    assert "study list" not in text and not (tmp_path / "first.cast").exists()


def test_the_sample_report_decides_its_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "PAGE", tmp_path / "sample.html")
    monkeypatch.setattr("sys.argv", ["sample"])
    sample.main()
    text = sample.PAGE.read_text(encoding="utf-8")
    assert (
        "Hypothesis &#34;halved&#34; is confirmed" in text
        and "1 of 1 comparisons of questions decided" in text
    )


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.name)
def test_shipped_studies_satisfy_their_schema(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
    assert named and (path.parent / named[1]).resolve() == CHECKOUT / FOLDER / "study.schema.json"
    assert [error.message for error in SCHEMA.iter_errors(yaml.safe_load(text))] == []


@pytest.mark.parametrize(
    ("key", "value"),
    (
        ("repetition", 5),
        ("repetitions", 0),
        ("compare", {"baseline": "last"}),
        ("monitor", {"period": 1}),
        ("notify", [{"webhook": "https://example.org/hook"}]),
        ("expect", [{"name": "x", "workload": "read", "compare": "disk_type", "low": 1}]),
    ),
)
def test_the_schema_rejects_a_faulty_study(key: str, value: object) -> None:
    study = yaml.safe_load(STUDIES[0].read_text(encoding="utf-8"))
    assert SCHEMA.is_valid(study)
    assert not SCHEMA.is_valid(study | {key: value})


def test_the_schema_needs_hosts_for_a_cluster_to_build_and_none_for_one_that_stands() -> None:
    study = yaml.safe_load(STUDIES[0].read_text(encoding="utf-8"))
    hostless = {key: value for key, value in study.items() if key not in ("hosts", "factors")}
    cluster = {"configuration": "/etc/hadoop", "folder": "/user/me/study", "namespace": "study"}
    given = {"provider": "existing", "existing": cluster}
    assert not SCHEMA.is_valid(hostless)
    assert not SCHEMA.is_valid(hostless | {"provider": "existing"})
    assert SCHEMA.is_valid(hostless | given)


@pytest.mark.parametrize(
    ("key", "value"),
    (
        ("schedule", "0 2 * * 6"),
        ("schedule", {"asset": "s3://bucket/x"}),
        ("compare", {"baseline": "rolling 5", "tolerance": "5%"}),
        ("slo", {"read_p99": "20 ms"}),
        ("notify", [{"webhook": "hook"}, {"mail": ["a@example.org"], "events": ["late"]}]),
        (
            "expect",
            [{"name": "x", "workload": "read", "compare": "disk_type", "flash_over_hdd": "> 1"}],
        ),
    ),
)
def test_the_schema_accepts_valid_values(key: str, value: object) -> None:
    study = yaml.safe_load(STUDIES[0].read_text(encoding="utf-8"))
    assert list(SCHEMA.iter_errors(study | {key: value})) == []


def test_defaults_have_the_notation_of_a_study() -> None:
    models = study_schema()["$defs"]
    assert models["DfsioSpec"]["properties"]["read_size"]["default"] == "1 MiB"
    assert models["CompareSpec"]["properties"]["tolerance"]["default"] == "5%"
    assert models["YcsbSpec"]["properties"]["duration"]["default"] == "600 s"


def test_every_key_of_a_study_has_a_description() -> None:
    rows = [line for line in pages()["study-file.md"].splitlines() if line.startswith("| `")]
    assert len(rows) > 80
    assert [row for row in rows if row.endswith("|  |")] == []


def test_every_rule_has_a_remedy() -> None:
    assert len(RULES) > 20
    assert [rule.check for rule in RULES if not rule.remedy.endswith(".")] == []


def test_every_command_has_a_one_line_purpose_and_an_example() -> None:
    for name, command in commands():
        purpose = command.help.strip().split("\n\n")[0]
        assert purpose.endswith((".", "?")), name
        if not hasattr(command, "commands"):
            assert "\n" not in purpose.strip(), name
        assert f"    {name} " in command.epilog or f"    {name}\n" in command.epilog, name


def test_every_environment_variable_is_declared() -> None:
    files = [path for room in ROOMS for path in (CHECKOUT / room).rglob("*.py")]
    named = {
        node.value
        for path in files
        if "STUDY_"
        in (text := path.read_text(encoding="utf-8"))  # most trees would be made in vain
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if OWN.fullmatch(node.value)
    }
    assert len(named) >= 8
    assert named <= {variable["name"] for variable in environment_variables()}
