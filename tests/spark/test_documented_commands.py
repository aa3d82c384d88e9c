"""Every command on README and the other pages works as shown.

A code block is one script, as a user would paste it, in a shell prepared as README describes, in a
folder with the contents of a checkout; what needs no shell runs in this process. Inline commands run
one by one. SIMULATED and NOT_HERE have what is not executed as shown, each with its reason. Commands
shown by name only, without required arguments, run with `--help`, which this process parses as shown.
The blocks of the pages in WALKED are walked by tests/live/walks.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from density_study.cluster.state.journal import Journal
from density_study.dags.cli.main import app
from density_study.workloads.planning.plan import write_plan
from density_study.workloads.planning.planned_study import plan_study
from tests.bench.made_run import Size, make_run
from tests.security.lossless import each_write
from tests.support.pages.blocks import COMMANDS, blocks

pytestmark = [pytest.mark.spark, pytest.mark.thorough, pytest.mark.timeout(600)]

CHECKOUT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    *sorted(str(p.relative_to(CHECKOUT)) for p in CHECKOUT.glob("docs/**/*.md")),
)
PROGRAMS = ("study", "make", "python", "spark-submit", "apt-get")
INLINE = re.compile(rf"`((?:{'|'.join(PROGRAMS)}) [^`]+)`")
SPEC = "workloads/studies/quickstart.yaml"
RUNS = ("20261114T020003Z", "20261121T020003Z")
"""The two runs compared in docs/how-to/schedule-with-alerts.md."""
RUN = f"runs/quickstart/{RUNS[1]}"
STANDS_FOR = {
    **{"SPEC": SPEC, "RUN": RUN, "RUN...": RUN, "A": RUNS[0], "B": RUNS[1]},
    "measured:RUN": "profile.yaml",
    **{"DIR": "export", "FILE.duckdb": "results.duckdb", "FOLDER": "others"},
    **{"NAME": "collectors", "FILE": "written.yaml"},
}
YCSB_OUTPUT = CHECKOUT / "tests/samples/ycsb-0.17.0_hdr.out"
"""What docs/how-to/import-records.md imports."""
SIMULATED = (
    ("apt-get install", "--simulate", "only root installs: tests/fresh/debian.sh"),
    ("make", "--dry-run", "minutes, or this very test: tests/fresh"),
    (
        "study run",
        "--help",
        "needs an idle machine: tests/live/walks, tests/fresh, and tests/live/test_study.py",
    ),
    ("study --install-completion", "--help", "would change the user's shell"),
    *(
        (
            f"study report {run}--master yarn",
            "--help",
            "needs a cluster: tests/live/test_yarn_analysis.py",
        )
        for run in ("", f"{RUN} ")
    ),
    (
        f"study compare {RUNS[1]} --acknowledge",
        "--help",
        "the later run is not slower: tests/unit/dags/commands/test_compare_command.py",
    ),
    (
        f"study capacity fit {RUN}",
        "--help",
        "needs more host counts: tests/live/walks/test_sizing.py",
    ),
    ("study airflow", "--help", "runs until it is stopped: tests/dag"),
    ("study reap --claim", "--help", "the run is the user's own: tests/unit/dags"),
    (f"study rm {RUN}", "--help", "asks on a terminal: tests/unit/dags"),
    ("study setup", "--help", "minutes: tests/fresh"),
    ("study notify", "--help", "the study has no receivers: tests/dag/notify"),
    ("study stack add", "--help", "hundreds of megabytes: tests/live/factors/test_versions.py"),
    ("study stack sbom kudu", "--help", "the same: tests/fresh/test_empty_caches.py"),
    ("study up", "--help", "needs an idle machine: tests/live/test_kept_cluster.py"),
    ("study shell", "--help", "the same"),
    ("study down", "--help", "the same"),
    ("python -m tests.bench", "--help", "hours: make bench"),
    ("python -m tests.known_answers", "--list", "hours: make prove"),
    ("python -m tests.causes", "--help", "the same"),
    ("python -m docs.generator.rehearsed", "--help", "an hour"),
)
"""Beginning of a command -> the option that it runs with, and why; and who runs it as shown."""
NOT_HERE = {
    "dnf ": "this is no RHEL; nobody runs it",
    ".uv/bin/pip download": "tests/live/test_setup.py",
    "PIP_NO_INDEX=1": "tests/live/test_setup.py",
    "podman ": "buildah builds the image: tests/fresh/test_image.py",
    "python3 -m venv": "tests/fresh/test_wheel.py",
    "pip install": "tests/fresh/test_wheel.py",
    "/opt/density-study/bin/pip": "tests/dag/celery",
    "su postgres": "only root: tests/dag/celery",
    "rm -r /usr/local/lib/density-study": "would remove this machine's; nobody runs it",
}
"""Beginning of a command of which only the syntax is checked -> who runs it, or why nobody does."""
REPLACED = {
    "| less": "| cat",
    "| ssh root@192.0.2.10 sh": "| sh -n",  # reads the script, and runs nothing
    '"$GITHUB_STEP_SUMMARY"': "summary.md",
}
WALKED = ("existing-cluster", "size-a-cluster", "two-hosts", "vms")
EXAMPLES = "analysis/capacity/inputs/examples"
MADE = (
    f"study capacity fit --points {EXAMPLES}/points.csv -o model.json",
    f"study capacity import-trace {EXAMPLES}/trace.txt --genomes 2 -o profile.yaml",
)
WITHOUT_A_SHELL = re.compile(
    r"study (capacity import-trace|plan|example|schema|list|status|reap|sudo-rules|import|stack|--version)"
    r"\b[^|'\"$~&;]*"
)
LATER = re.compile(
    r"^(study (report|compare|export|rehearse|capacity (check|explain|fit|size|years|carry)) "
    r"|study import others$|spark-submit|apt-get)(?!.*--help)|^python -m ",
    re.MULTILINE,
)
"""`make live` executes these, and `make test` reads their options: those that need analysed runs, each of
which starts Spark; those that simulate; programs of developers; and `apt-get`, which needs a mirror."""
NAMES = re.compile(
    r"(study capacity( [a-z-]+)?|spark-submit"
    r"|study (report|compare|export|plan|init|doctor|rm|stack( [a-z]+)?|import|up|shell|rehearse))"
)


def command(line: str) -> str:
    """Without its comment, and with real values for its placeholders."""
    if line.startswith((*NOT_HERE, "export ")):
        return line
    optional = line if line.startswith("python ") else re.sub(r"[\[\]]", "", line)
    words = optional.split()
    completed = " ".join(STANDS_FOR.get(word, word) for word in words)
    for shown_part, here in REPLACED.items():
        completed = completed.replace(shown_part, here)
    for beginning, option, _ in SIMULATED:
        if completed.startswith(beginning) and completed != "make help":
            return f"{completed.partition(' -- ')[0]} {option}"
    return f"{completed} --help" if NAMES.fullmatch(completed) else completed


def scripts() -> dict[str, str]:
    """By page and first words, in the order of the pages; each once."""
    by_name: dict[str, str] = {}
    for page in PAGES:
        text = (CHECKOUT / page).read_text()
        scripts = [
            *(block.commands for block in blocks(text) if block.language in COMMANDS),
            *(
                re.findall(r"- (?:run: )?(study .*)", b.text)
                for b in blocks(text)
                if b.language == "yml"
            ),
        ]
        shown = [
            *([] if Path(page).stem in WALKED else scripts),
            *([" ".join(inline.split())] for inline in INLINE.findall(text)),
        ]
        for lines in shown:
            script = "\n".join(map(command, lines))
            if script and script not in by_name.values():
                by_name[f"{page}: {lines[0][:40]}"] = script
    return by_name


SCRIPTS = scripts()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like the checkout, with two runs of the quickstart."""
    folder = tmp_path_factory.mktemp("checkout")
    for path in CHECKOUT.iterdir():
        if path.name not in ("runs", ".git"):
            (folder / path.name).symlink_to(path)
    plan = plan_study(CHECKOUT / SPEC, runs=folder / "runs").plan
    for name in RUNS:
        root = make_run(folder / "runs" / "quickstart" / name, Size(trials=2, hosts=2, seconds=90))
        for manifest in root.glob("records/*/manifest.json"):
            text = manifest.read_text().replace('"study":"made"', '"study":"quickstart"')
            manifest.write_text(text.replace('"run":"made"', f'"run":"{name}"'))
        shutil.copy(CHECKOUT / SPEC, root / "study.yaml")
        write_plan(plan, root / "plan.json")
        Journal(root / "journal.jsonl").write(
            "run-ended", outcome="ok", message="", repetitions=plan.repetitions
        )
    (folder / "others").mkdir()
    shutil.copy(YCSB_OUTPUT, folder / "others")
    return folder


def test_shells_are_explained_once() -> None:
    assert [s for s in SCRIPTS.values() if s.startswith(". ")] == [". .venv/bin/activate"]


def test_blocks_contain_only_commands() -> None:
    lines = [line for script in SCRIPTS.values() for line in script.splitlines()]
    not_here = [line for line in lines if line.startswith(tuple(NOT_HERE))]
    begun = {line.split()[0] for line in lines if line not in not_here}
    assert begun == {*PROGRAMS, ".", "export"}
    simulated = [line for line in lines if line.startswith(tuple(one for one, *_ in SIMULATED))]
    print(
        f"{len(lines)} commands: {len(simulated)} simulated, {len(not_here)} read by a shell only"
    )


def test_nothing_is_left_out_that_no_page_has() -> None:
    lines = [line for script in SCRIPTS.values() for line in script.splitlines()]
    for beginning in (*NOT_HERE, *(one for one, *_ in SIMULATED)):
        assert any(line.startswith(beginning) for line in lines), beginning
    reasons = " ".join([*NOT_HERE.values(), *(why for *_, why in SIMULATED)])
    named = re.findall(r"tests/[\w/]+(?:\.py|\.sh)?", reasons)
    assert named and [path for path in named if not (CHECKOUT / path).exists()] == []


@pytest.mark.parametrize("page", WALKED)
def test_a_walked_page_has_a_walk(page: str) -> None:
    walks = (CHECKOUT / "tests" / "live" / "walks").glob("test_*.py")
    assert any(f'"tutorials/{page}.md"' in walk.read_text() for walk in walks)


@pytest.mark.parametrize(
    "shown",
    [
        pytest.param(shown, marks=[pytest.mark.slow] if LATER.search(SCRIPTS[shown]) else [])
        for shown in SCRIPTS
    ],
)
def test_a_command_works_as_shown(
    shown: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = SCRIPTS[shown]
    lines = script.splitlines()
    if all(line.startswith("study ") and line.endswith(" --help") for line in lines):
        for line in lines:
            is_parsed(line)
        return
    checkout: Path = request.getfixturevalue("checkout")
    if all(map(WITHOUT_A_SHELL.fullmatch, lines)):
        monkeypatch.chdir(checkout)
        monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(checkout / ".runtime"))
        if "study import others" in lines and not (checkout / "others" / "map.yaml").exists():
            assert each_write.run("import", "others", "--init") == 0
        assert [each_write.run(*line.split()[1:]) for line in lines] == [0] * len(lines)
        # Other commands compare the newest run.
        shutil.rmtree(checkout / "runs" / "others", ignore_errors=True)
        return
    activate = next((script for script in SCRIPTS.values() if script.startswith(". ")), ":")
    env = environment(checkout)
    if re.search("study (compare|export) [^-]", script):
        analyse_first(checkout, activate, env)
    if "model.json" in script and not (checkout / "model.json").exists():
        for line in MADE:
            assert run(f"{activate}\n{line}", checkout, env).returncode == 0
    if "apt-get" in script:
        env |= package_lists(checkout / "apt")
    here = "\n".join(line for line in lines if not line.startswith(tuple(NOT_HERE)))
    done = run(f"{activate}\n{here}", checkout, env)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    read = ["bash", "-n", "-c", script]
    assert not subprocess.run(read, capture_output=True, check=False).stderr


def test_the_options_of_what_runs_later_are_known() -> None:
    later = [script for script in SCRIPTS.values() if LATER.search(script)]
    lines = [line for script in later for line in script.splitlines() if line.startswith("study ")]
    assert len(lines) > 10
    for line in lines:
        is_parsed(f"{line.partition('|')[0].partition('>')[0]} --help")


def is_parsed(line: str) -> None:
    answer = CliRunner().invoke(app, shlex.split(line)[1:])
    assert answer.exit_code == 0, (line, answer.output)


def package_lists(folder: Path) -> dict[str, str]:
    """Environment in which `apt-get update` fetches the lists into `folder`, since only root may
    fetch those of the system."""
    for name in ("lists", "cache/archives"):
        (folder / name / "partial").mkdir(parents=True, exist_ok=True)
    config = folder / "apt.conf"
    config.write_text(f'Dir::State::Lists "{folder}/lists";\nDir::Cache "{folder}/cache";\n')
    return {"APT_CONFIG": str(config)}


def environment(checkout: Path) -> dict[str, str]:
    inherited = ("HOME", "PATH", "LANG", "JAVA_HOME", "DENSITY_STUDY_CACHE")
    env = {name: os.environ[name] for name in inherited if name in os.environ}
    env |= {"DENSITY_STUDY_RUNTIME": str(checkout / ".runtime")}
    return env | {"SPARK_LOCAL_IP": "127.0.0.1"}  # its drivers listen only on loopback


@pytest.mark.slow
def test_the_documented_query_reads_an_export(checkout: Path) -> None:
    """The block of SQL. tests/spark/test_notebook.py executes the notebook."""
    activate, env = ". .venv/bin/activate", environment(checkout)
    analyse_first(checkout, activate, env)
    text = (CHECKOUT / "docs/how-to/results-in-a-notebook.md").read_text()
    (sql,) = re.findall(r"^```sql\n(.*?)^```", text, re.M | re.S)
    assert sql.count("'valid'") == 1
    sql = sql.replace("'valid'", "'unknown'")  # the runs made here do not prove enough to be valid
    exported = f"study export {' '.join(RUNS)} --to export"
    code = f"import duckdb\nfor row in duckdb.sql({sql!r}).fetchall(): print(row)"
    script = f"{activate}\n{exported}\npython - <<'CODE'\n{code}\nCODE"
    done = run(script, checkout, env)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("('quickstart'")]
    assert rows and all(any(name in row for row in rows) for name in RUNS)


def analyse_first(checkout: Path, activate: str, env: dict[str, str]) -> None:
    for name in RUNS:
        if not (checkout / "runs" / "quickstart" / name / "report" / "summary.json").exists():
            assert run(f"{activate}\nstudy report {name}", checkout, env).returncode == 0


def run(script: str, folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-exc", script], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
