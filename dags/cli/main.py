"""The `study` command. Each command calls one function and prints its result.

Imports are local to the commands, so that `--help` and `status` start fast. Only `study report` loads
Spark into this process; no command loads Airflow into it.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.extras import missing_extra
from density_study.cluster.state.file_fault import as_study_errors
from density_study.dags.cli import (
    airflow_commands,
    export_command,
    import_command,
    keep_commands,
    list_command,
    notify_command,
    reap_command,
    report_command,
    run_command,
    stack_command,
)
from density_study.dags.cli.agents import command as agents_command
from density_study.dags.cli.arguments import (
    RUNS,
    Anyway,
    Budget,
    Json,
    Named,
    Only,
    Runs,
    Sets,
    Spec,
    arrange,
    examples,
    option,
    parse_overrides,
)
from density_study.dags.cli.capacity import command as capacity_command
from density_study.dags.cli.compare import command as compare_command
from density_study.dags.cli.console import (
    err,
    out,
    plain_log,
    print_error,
    print_json,
    print_text,
    print_usage_error,
)
from density_study.dags.cli.first import example_command, init_command
from density_study.dags.cli.hosts import doctor_command, sudo_rules_command
from density_study.dags.cli.rehearse import command as rehearse_command
from density_study.dags.cli.watch import command as watch_command

app = typer.Typer(
    name="study",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Compare Hadoop and HBase clusters: which variant is faster, by how much, and how sure is that?

    SPEC is a study's YAML file, or the name of a shipped study. RUN is a run's folder or id, or a study's
    name for its newest run. Times look like `90 s`, `1h30m` or `2 h`. Every command has -q, to print results
    and errors only, and -v, to print log messages also. NO_COLOR=1 turns colours off.""",
    epilog=examples(
        "study init mine.yaml",
        "study plan quickstart",
        "study run quickstart --set repetitions=2",
        "study list",
        "study status",
        "study report quickstart",
        "study reap --dry-run",
    ),
)
app.add_typer(capacity_command.app)
app.add_typer(stack_command.app)
app.command(epilog=airflow_commands.SETUP_EXAMPLES)(airflow_commands.setup)
app.command(epilog=airflow_commands.AIRFLOW_EXAMPLES)(airflow_commands.airflow)
app.command(epilog=run_command.EXAMPLES)(run_command.run)
app.command(epilog=rehearse_command.EXAMPLES)(rehearse_command.rehearse)
app.command(epilog=watch_command.EXAMPLES)(watch_command.watch)
app.command(epilog=agents_command.EXAMPLES)(agents_command.mcp)
app.command("list", epilog=list_command.LIST_EXAMPLES)(list_command.list_runs)
app.command("rm", epilog=list_command.REMOVE_EXAMPLES)(list_command.remove)
app.command(epilog=compare_command.EXAMPLES)(compare_command.compare)
app.command(epilog=export_command.EXAMPLES)(export_command.export)
app.command(epilog=example_command.EXAMPLES)(example_command.example)
app.command(epilog=init_command.EXAMPLES)(init_command.init)
app.command(epilog=doctor_command.EXAMPLES)(doctor_command.doctor)
app.command(epilog=notify_command.EXAMPLES)(notify_command.notify)
app.command(epilog=reap_command.EXAMPLES)(reap_command.reap)
app.command(epilog=report_command.EXAMPLES)(report_command.report)
app.command(epilog=keep_commands.UP)(keep_commands.up)
app.command(epilog=keep_commands.DOWN)(keep_commands.down)
app.command(epilog=keep_commands.SHELL)(keep_commands.shell)
app.command("sudo-rules", epilog=sudo_rules_command.EXAMPLES)(sudo_rules_command.sudo_rules)
app.command("import", epilog=import_command.EXAMPLES)(import_command.import_records)


class Schema(StrEnum):
    study = "study"
    summary = "summary"


@app.command(epilog=examples("study schema > study.schema.json", "study schema summary"))
def schema(
    of: Annotated[
        Schema, typer.Argument(metavar="study|summary", help="A study file, or summary.json.")
    ] = Schema.study,
) -> None:
    """Print the JSON Schema of a study file, or of a report's numbers, summary.json.

    An editor with a YAML language server completes and checks the keys of a study that begins with
    `# yaml-language-server: $schema=PATH-OR-URL`. Rules that involve several keys are not in the
    schema; `study plan` checks them.
    """
    if of is Schema.summary:
        import json

        from density_study.analysis.summary.summary import Summary

        print_text(json.dumps(Summary.model_json_schema(), indent=2) + "\n")
        return
    from density_study.workloads.study.schema import study_schema_json

    print_text(study_schema_json())


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        out.print(f"study {version('density-study')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Options of `study` itself. Its help is the app's, above."""


@app.command(epilog=examples("study plan quickstart --set repetitions=5"))
def plan(
    spec: Spec,
    runs: Runs = RUNS,
    sets: Sets = None,
    only: Only = None,
    effect: Annotated[
        float,
        option(
            "--effect",
            "RATIO",
            "Print the power for a true ratio this far beyond the bound of a question's rule, unless the "
            "study gives an `effect`.",
            min=0.01,
        ),
    ] = 1.2,
    budget: Budget = None,
    output: Annotated[
        Path | None, option("-o --output", "FILE", "Write the study that fits the budget.")
    ] = None,
    anyway: Anyway = False,
    as_json: Json = False,
) -> None:
    """Show the steps of a study, how long they take, and which questions the results can decide.

    Starts nothing, and writes nothing but --output. The type of a disk is assumed; `study run` probes
    it. Other hosts are contacted only if the study leaves their cores or memory to them (`auto`).

    With --budget, or the key `budget` and no `repetitions`, chooses the questions, test cases, windows and
    repetitions with the most power in that time; -o writes them as a study, to run.

    Rejects a study none of whose declared questions can be decided, or with a comparison over time that
    cannot detect a change twice as large as its own tolerance.
    """
    from density_study.analysis.findings.outlook import notes, outlooks
    from density_study.analysis.findings.power_between_runs import regressions
    from density_study.analysis.findings.question_power import questions_of
    from density_study.analysis.findings.window_noise import window_lines
    from density_study.cluster.state.atomic import write_text
    from density_study.dags.cli.plan_page import plan_page, warnings_of
    from density_study.dags.stages.budget import fitted
    from density_study.dags.stages.earlier import Earlier
    from density_study.dags.stages.estimates import whole_s
    from density_study.dags.stages.planning import check_plan, within_budget
    from density_study.workloads.planning.planned_study import plan_study
    from density_study.workloads.planning.preflight import disk_need_mib, disks_too_small
    from density_study.workloads.planning.resolve import assumptions

    overrides, fits = parse_overrides(sets or []), list[str]()
    made = plan_study(spec, overrides, runs, tuple(only or ()))
    earlier = Earlier(made.study, runs)
    if fit_s := budget or made.study.fit_s:
        within = fitted(spec, overrides, earlier, fit_s, only=tuple(only or ()))
        made, fits = within.made, [f"budget: {within.chosen}"]
        if output is not None:
            write_text(output, made.file.text)
    elif output is not None:
        remedy = "give a budget: --budget '8 h'."
        raise InputError("a study is written only if it is fitted.", f"--output {output}", remedy)
    study, here, seen = made.study, earlier.pace, earlier.noise
    planned = here.applied(made.plan)
    asked, lasting = questions_of(study, planned, effect), within_budget(study, planned)
    design_notes = (
        *fits,
        *notes(asked, lasting, seen, study.questions is not None),
        *window_lines(planned, seen.paired, seen.second),
        *regressions(study, planned, seen),
    )
    foretold = outlooks(asked, lasting, seen)
    time_s, need_mib = whole_s(planned.estimate_s, study.budget), disk_need_mib(study)
    hosts = next(iter(planned.topologies.values())).hosts
    warned = (
        *made.file.warnings,
        *assumptions(study, hosts),
        *disks_too_small(study, planned, runs),
    )
    if as_json:
        told = {
            "questions": foretold,
            "shows": design_notes,
            "warnings": (*warnings_of(planned), *warned),
        }
        print_json({"plan": planned, "estimate_s": time_s, "disk_mib": need_mib, **told})
    else:
        about = (time_s, need_mib, foretold, design_notes, warned, here.words)
        out.print(plan_page(planned, *about))
    if not anyway:
        check_plan(study, made.plan, spec, earlier)


@app.command(epilog=examples("study status runs/quickstart/20261120T201530Z"))
def status(run: Named = None, runs: Runs = RUNS, as_json: Json = False) -> None:
    """Show the progress of a run: state, step, elapsed time, failures."""
    from density_study.dags.cli.display import status_page
    from density_study.dags.run_status.status import find_run, status_of

    found = status_of(find_run(run, runs))
    if as_json:
        print_json(found.facts())
    else:
        out.print(*status_page(found), sep="\n")


arrange(app)


def main() -> None:
    """Entry point of the `study` command."""
    from density_study.dags.airflow_home.interrupt import Interrupted

    plain_log()
    try:
        with as_study_errors():
            code = app(standalone_mode=False)
            sys.stdout.flush()  # a full disk behind it is an error like all others
        sys.exit(code)
    except StudyError as error:
        print_error(error)
        sys.exit(error.exit_code)
    except typer.TyperException as error:  # unknown commands, options and values
        print_usage_error(error)
        sys.exit(error.exit_code)
    except typer.Abort as unanswered:
        if isinstance(unanswered.__context__, KeyboardInterrupt):
            sys.exit(130)
        print_error(
            InputError(
                "a question got no answer: the input has ended, or there is no terminal to ask on.",
                "study",
                "give every requested value as an option; the command's --help lists them.",
            )
        )
        sys.exit(2)
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        print_error(missing)
        sys.exit(missing.exit_code)
    except Interrupted as interrupted:
        err.print(
            f"Stopped by {interrupted}. No process of the run is left. An unfinished trial is recorded "
            "as incomplete. Run the same command again to resume."
        )
        sys.exit(interrupted.exit_code)


if __name__ == "__main__":
    main()
