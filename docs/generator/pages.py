"""The generated pages: file name -> text, each from the code that it documents."""

from __future__ import annotations

import ast
import json
import re
import signal
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import yaml

from density_study.analysis.capacity.inputs.catalogue import Catalogue
from density_study.analysis.capacity.inputs.profile import Profile
from density_study.analysis.summary.summary import Summary
from density_study.analysis.validity.rules import RULES, Rule
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.stack.java import fault_of
from density_study.cluster.stack.lock import read_lock
from density_study.cluster.stack.recipes import locked_versions, recipe_of
from density_study.cluster.state.settings import VARIABLES
from density_study.dags.airflow_home.home import project_root
from density_study.dags.airflow_home.interrupt import Interrupted
from density_study.workloads.imports.map_file import map_schema
from density_study.workloads.rows.every_table import every_table
from density_study.workloads.study.metrics import metric_kinds
from density_study.workloads.study.registry import kinds
from density_study.workloads.study.schema import study_schema, study_schema_json
from docs.generator import cli_page, studies_page
from docs.generator.markdown import page, sentence, table
from docs.generator.model_page import model_sections

FOLDER = "docs/reference"
ENVIRONMENT = Path(__file__).with_name("environment.yaml")
TERMS = (ENVIRONMENT.with_name("glossary.toml"), project_root() / "analysis/report/glossary.toml")
GLOSSARY_INTRODUCTION = """\
The terms of this project, and those of the report."""
METRICS_INTRODUCTION = """\
The metrics of `summary.json` and of the tables `metrics` and `test_case_metrics`. A package that you
install may add some. A null is a number that could not be computed, never zero."""
TABLES_INTRODUCTION = """\
Each is a folder of Parquet files, `runs/<study>/<run-id>/tables/<table>/`, so one study can be read
by itself. Times are epoch seconds by the clock of the machine that wrote them; `clock_offset_s`
says how far that clock is ahead of the controller's. A null is "not known", never zero."""
VERSIONS_INTRODUCTION = """\
What is shipped with a lock, which names each jar with its SHA-256. `study stack add` adds other versions of
Maven Central. Java 17 and 21 run everything; another release must be named by `stack.java`, and another
ZooKeeper than HBase's by `stack.zookeeper`. For an existing cluster, the client has the nearest version."""
VERSIONS_GROUP = "versions"
PACKAGES_INTRODUCTION = """\
What belongs into each package, by its docstring. [Architecture](../architecture.md) follows the data through
them."""
ROOMS = ("cluster", "workloads", "analysis", "jobs", "dags")
_JAVAS = (17, 21, 25)
_TITLES = {"cpu": "CPU"}


@cache
def pages() -> dict[str, str]:
    return {
        "study-file.md": _study_file(),
        "study.schema.json": study_schema_json(),
        "import-map.md": _import_map(),
        "cli.md": page("Command line", "`study --help` prints the same.", cli_page.sections()),
        "summary.md": _summary(),
        "glossary.md": page("Glossary", GLOSSARY_INTRODUCTION, _glossary()),
        "metrics.md": page("Metrics", METRICS_INTRODUCTION, _metrics()),
        "tables.md": page("Tables", TABLES_INTRODUCTION, _tables()),
        "validity-rules.md": _validity_rules(),
        "environment.md": _environment(),
        "exit-codes.md": _exit_codes(),
        "shipped-studies.md": studies_page.shipped_studies_page(),
        "claims.md": studies_page.claims_page(),
        "capacity-files.md": _capacity_files(),
        "packages.md": page("Packages", PACKAGES_INTRODUCTION, _packages()),
        "versions.md": page("Versions", VERSIONS_INTRODUCTION, _versions()),
    }


def _study_file() -> str:
    introduction = (
        "A study is one YAML file. It names the hosts, the factors to compare, the workloads and the "
        "number of repetitions. `study plan SPEC` checks it and shows what it would run. "
        "`study example NAME` writes a copy of a complete one.\n\n"
        "- An unknown key is an error. The message names the file, the line and the key.\n"
        "- A quantity is one number and a unit: `6 GiB`, `20 ms`, `10 min`, `2000/s`.\n"
        "- A file has at most 128 KiB, 32 levels and 10,000 values. YAML tags are rejected.\n"
        "- `study plan` and `study run` accept `--set KEY=VALUE`, for example `--set repetitions=2`, and "
        "`--only GLOB` to run some test cases only.\n"
        "- Editors complete and check keys with [study.schema.json](study.schema.json), which "
        "`study schema` prints. `study plan` also checks rules that involve several keys.\n\n"
        "`[]` in a heading is an element of a list."
    )
    return page("Study file", introduction, model_sections(study_schema(), "Top level"))


def _versions() -> Iterator[str]:
    rows = []
    for one in locked_versions():
        hbase = recipe_of("hbase", one)
        if hbase.shipped_lock.exists():
            jars = read_lock(hbase).jars
            zookeeper = next(jar for jar in jars if re.fullmatch(r"zookeeper-\d[\d.]*\.jar", jar))
            javas = ", ".join(str(java) for java in _JAVAS if not fault_of(java, one.hadoop))
            version = zookeeper.removeprefix("zookeeper-").removesuffix(".jar")
            rows.append((one.hadoop, one.hbase, version, javas, str(len(jars))))
    yield from table(("Hadoop", "HBase", "ZooKeeper", "Java", "jars of HBase"), rows)
    yield f"\n{_verified()}\n"


def _verified() -> str:
    """When the group that starts every shipped pair was last run, as its ledger says."""
    lines = map(
        json.loads, (project_root() / "docs/proof/ledger.jsonl").read_text("utf-8").splitlines()
    )
    runs = [one for one in lines if one["group"] == VERSIONS_GROUP]
    if not runs:
        return "No run of [their tests](../proof/index.md) is recorded."
    last = runs[-1]
    failed = [name.rpartition("[")[2].rstrip("]") for name in last.get("failures", ())]
    what = f"failed: {', '.join(failed)}" if failed else f"{last['passed']} tests passed"
    return (
        f"[Each pair on the Java of the machine](../proof/index.md): HDFS, YARN, TestDFSIO, a row in HBase; "
        f"{last['date'][:10]} on {last['commit']}, {what}."
    )


def _capacity_files() -> str:
    introduction = (
        "The two YAML files of [capacity planning](../capacity.md): the *catalogue* of host types with "
        "prices, and the *profile*, what one genome needs. `study example catalog.yaml` writes an example of "
        "the first, `study capacity import-trace` a profile. Implausible values (500 kW) are refused.\n\n"
        "`[]` in a heading is an element of a list."
    )
    body = chain(
        model_sections(Catalogue.model_json_schema(), "Catalogue"),
        model_sections(Profile.model_json_schema(), "Profile"),
    )
    return page("Capacity files", introduction, body)


def _packages() -> Iterator[str]:
    found = [
        path for room in ROOMS for path in sorted((project_root() / room).glob("*/__init__.py"))
    ]
    rows = [
        (f"`{path.parent.relative_to(project_root())}`", _first_paragraph(path.read_text("utf-8")))
        for path in found
    ]
    yield from table(("package", "what belongs there"), rows)


def _first_paragraph(module: str) -> str:
    return sentence((ast.get_docstring(ast.parse(module)) or "").partition("\n\n")[0])


def _import_map() -> str:
    introduction = (
        "The map of an import is one YAML file, by default `map.yaml` in the imported folder. It says which "
        "files belong to which trial, and what the files do not show. `study import FOLDER --init` "
        "drafts it. Leave out what nobody knows: it stays unknown. "
        "[Import records of others](../how-to/import-records.md) has a worked example.\n\n"
        "- An unknown key is an error. The message names the file, the line and the key.\n"
        "- A quantity is one number and a unit, as in a [study file](study-file.md).\n"
        "- A value that contradicts the files is an error.\n\n"
        "`[]` in a heading is an element of a list, `<name>` a name of your choice."
    )
    return page("Import map", introduction, model_sections(map_schema(), "Top level"))


def _summary() -> str:
    introduction = (
        "`report/summary.json` holds the numbers of one run; the report shows the same numbers. "
        "`study schema summary` prints its JSON Schema. A null is a number that "
        "could not be computed, never zero."
    )
    parameters = [
        (kind.name, f"`{name}`", meaning)
        for kind in kinds().values()
        for name, meaning in kind.parameters.items()
    ]
    body = chain(
        model_sections(Summary.model_json_schema(), "Top level"),
        ("\n## Parameters of test cases\n",),
        table(("workload", "parameter", "meaning"), parameters),
    )
    return page("summary.json", introduction, body)


def _glossary() -> Iterator[str]:
    rows = [row for path in TERMS for row in tomllib.loads(path.read_text("utf-8")).items()]
    yield from table(("term", "meaning"), sorted(rows, key=lambda row: row[0].lower()))


def _metrics() -> Iterator[str]:
    of = {one.name: kind.title for kind in kinds().values() for one in kind.metrics}
    better = {"higher": "higher is better", "lower": "lower is better", None: ""}
    rows = [
        (
            f"`{one.name}`",
            of.get(one.name, "any"),
            one.unit,
            one.words,
            one.meaning,
            better[one.better],
        )
        for one in metric_kinds().values()
    ]
    yield from table(("name", "workload", "unit", "in the report", "meaning", "better"), rows)


def _tables() -> Iterator[str]:
    for one in every_table().values():
        yield f"## {one.name}\n\n{one.meaning} Key: {', '.join(one.key)}.\n"
        rows = [(c.name, c.type, c.unit, c.meaning) for c in one.columns]
        yield from table(("column", "type", "unit", "meaning"), rows)


def _validity_rules() -> str:
    introduction = (
        "Each trial is checked against these rules. A rule that a trial breaks makes it `invalid` or "
        "`unknown`, or only raises a `flag`, which the report shows and which does not change the "
        "verdict. A check without data makes the trial `unknown`, unless the column *no data* says "
        "`pass`. Only valid trials count. `{...}` stands for a value of the trial."
    )
    return page("Validity rules", introduction, _rules())


def _rules() -> Iterator[str]:
    for suite in dict.fromkeys(rule.suite for rule in RULES):
        yield f"## {_TITLES.get(suite, suite.capitalize())}\n"
        rows = [
            (f"`{rule.check}`", _required(rule), rule.broken, rule.null, _causes(rule), rule.remedy)
            for rule in RULES
            if rule.suite == suite
        ]
        yield from table(("check", "must be", "if broken", "no data", "cause", "remedy"), rows)


def _required(rule: Rule) -> str:
    if rule.allowed is not None:
        required = " or ".join(f"`{value}`" for value in rule.allowed)
    elif rule.low is not None and rule.high is not None:
        required = f"{rule.low:g} to {rule.high:g}"
    else:
        required = f"at least {rule.low:g}" if rule.low is not None else f"at most {rule.high:g}"
    return required if rule.only is None else f"{required}, where `{rule.only}` is `{rule.equal}`"


def _causes(rule: Rule) -> str:
    return " ".join(sentence(text) for text in (rule.reason, rule.missing) if text)


def environment_variables() -> list[dict[str, str]]:
    variables: list[dict[str, str]] = yaml.safe_load(ENVIRONMENT.read_text(encoding="utf-8"))
    return variables


def _environment() -> str:
    introduction = (
        "Environment variables that users can set, and those that the project sets itself.\n\n"
        "Variables with a *key* are settings: they can also stand in one TOML file, which services and cron "
        "jobs find too. It is `~/.config/density-study/settings.toml`, or the file named in "
        "`DENSITY_STUDY_SETTINGS`. A variable comes before the file. Paths are absolute, begin with `~`, or "
        "are relative to the file's folder. An unknown key is an error.\n\n"
        "```toml\n"
        'studies = ["/srv/studies"]\n'
        'runs = "/srv/runs"\n'
        'reports_url = "https://reports.example.org"\n'
        "```\n\n"
        "What your shell says to other software is left out: `HADOOP_*`, `HBASE_*`, `YARN_*`, `SPARK_*`, "
        "`PYSPARK_*`, `AIRFLOW_*`, `PYTHON*`, `JAVA_TOOL_OPTIONS` and its relatives, `CLASSPATH`, "
        "`LD_PRELOAD`, `LANG`, `LC_*`, and others like them, except for the variables below. The locale is "
        "always C.UTF-8. The embedded Airflow therefore ignores `AIRFLOW_HOME`: `DENSITY_STUDY_HOME` moves "
        "its folder. In an Airflow that you run, tasks leave out the same, except `AIRFLOW_*` and "
        "`PYTHON*`. Under `spark-submit`, everything is as you set it.\n\n"
        "Files that are created can be changed by their owner only; a stricter umask is respected. If a "
        "limit of the shell (`ulimit`) is too low, `study doctor` and `study run` name it and the command "
        "that raises it."
    )
    variables = environment_variables()
    keys = {variable: f"`{key}`" for key, variable in VARIABLES.items()}
    users = [
        (f"`{v['name']}`", keys.get(v["name"], ""), v["default"], v["meaning"])
        for v in variables
        if "default" in v
    ]
    internal = [(f"`{v['name']}`", v["meaning"]) for v in variables if "internal" in v]
    body = [
        *table(("variable", "key", "default", "meaning"), users),
        "## Internal\n",
        "The project sets these for its own processes. Do not set them.\n",
        *table(("variable", "meaning"), internal),
    ]
    return page("Environment variables", introduction, body)


def _exit_codes() -> str:
    def interrupted(number: int) -> tuple[str, str]:
        meaning = f"Interrupted by {signal.Signals(number).name}. The run can be resumed."
        return f"{Interrupted(number).exit_code}", meaning

    codes = [
        ("0", "Success."),
        (f"{StudyError.exit_code}", "Failure, or a negative result (see below)."),
        (f"{InputError.exit_code}", "Invalid input or usage. Nothing was started."),
        *(interrupted(number) for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)),
    ]
    body = [
        *table(("code", "meaning"), codes),
        "## By command\n",
        *table(("command", "exit codes"), [(f"`{n}`", text) for n, text in cli_page.exit_codes()]),
    ]
    return page("Exit codes", "Exit codes of the `study` command.", body)
