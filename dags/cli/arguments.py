"""Arguments and options that several `study` commands share, and the layout of help: examples, groups of
commands by task, flags without a value."""

from __future__ import annotations

import shlex
import stat
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from density_study.cluster.model.errors import InputError, each_of
from density_study.dags.cli.old_flags import present

RUNS = Path("runs")
_OUTPUTS = ("output", "page", "html")
"""Parameters of commands that name a file to write."""


def option(names: str, metavar: str, help_text: str, **more: Any) -> Any:
    """An option with a value. names: `--output -o`."""
    return typer.Option(*names.split(), metavar=metavar, help=help_text, **more)


def examples(*commands: str) -> str:
    """The epilog of a command's help. The leading newline keeps Typer from dedenting the code block."""
    return "\n".join(("\nExamples:\n", *(f"    {command}" for command in commands), ""))


def _study(spec: Path) -> Path:
    from density_study.workloads.study.shipped import study_path

    return study_path(spec)


Spec = Annotated[
    Path,
    typer.Argument(
        metavar="SPEC",
        help="The study's YAML file, or the name of a shipped study, for example quickstart.",
        callback=_study,
    ),
]


def _checked(runs: Path) -> Path:
    from density_study.workloads.planning.planned_study import check_runs

    check_runs(runs)
    return runs


Runs = Annotated[Path, option("--runs", "DIR", "Folder that holds all runs.", callback=_checked)]
Sets = Annotated[
    list[str] | None,
    option(
        "--set",
        "KEY=VALUE",
        "Override a key of the study, for example repetitions=2 or stack.base_port=22000. "
        "Repeatable.",
    ),
]
Only = Annotated[
    list[str] | None,
    option(
        "--only",
        "GLOB",
        "Run only the test cases with a matching id, for example 'ycsb-*'. Repeatable.",
    ),
]


def run_ids(context: typer.Context, incomplete: str) -> list[str]:
    """Ids of runs for the shell's completion, newest first; the shell itself completes folders."""
    from density_study.cluster.state.journal import run_folders

    folders = run_folders(Path(context.params.get("runs") or RUNS))
    return [folder.name for folder in reversed(folders) if folder.name.startswith(incomplete)]


Named = Annotated[
    Path | None,
    typer.Argument(
        metavar="RUN",
        help="Folder or id of a run, or a study for its newest run. Default: the newest run.",
        autocompletion=run_ids,
    ),
]

Tags = Annotated[
    list[str] | None,
    option("--tag", "KEY=VALUE", "Tag of a run, for example ticket=PERF-12. Repeatable."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")]

Anyway = Annotated[
    bool, typer.Option("--anyway", help="Accept a study none of whose questions can be decided.")
]


def _budget(text: str) -> float:
    from density_study.workloads.base.quantity import seconds

    try:
        return seconds(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


Budget = Annotated[
    float | None,
    option("--budget", "TIME", "Fit the study into this time, for example '48 h'.", parser=_budget),
]

# Of `study capacity`.
PointsFile = Annotated[
    list[Path] | None,
    option(
        "--points",
        "CSV",
        "Measured points, with the columns group, hosts, vms_per_host, disk_type, value, unit, "
        "repetition. Repeatable.",
    ),
]
Source = Annotated[
    Path, typer.Argument(metavar="MODEL|CSV", help="A model.json, or a CSV file of points.")
]
PerDay = Annotated[float, option("--genomes-per-day", "N", "Load, in genomes per day.")]
ProfileName = Annotated[
    str,
    option(
        "--profile",
        "NAME|YAML|measured:RUN",
        "Workload of one genome: wgs30x, exome, cohort-query, a YAML file, or what a run of the "
        "workload pipeline measured, by its folder or id.",
    ),
]
Hosts = Annotated[Path, option("--hosts", "YAML", "Catalogue of host types with prices.")]
ModelFile = Annotated[Path, option("--model", "JSON", "Model written by `study capacity fit`.")]
Slo = Annotated[
    list[str] | None,
    option(
        "--slo",
        "NAME=LIMIT",
        "Service level objective: turnaround_p95=24h, query_p95=3s. Repeatable.",
    ),
]
Mapped = Annotated[
    list[str] | None,
    option(
        "--measured-by",
        "RESOURCE=GROUP",
        "Measured group that represents hdfs_read, hdfs_write, hbase_write, hbase_scan or "
        "genome_job. Repeatable.",
    ),
]
Draws = Annotated[
    int, typer.Option("--draws", min=100, max=100_000, help="Number of Monte Carlo draws.")
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of the draws; it makes a plan repeatable.")
]


def parse_overrides(pairs: Iterable[str]) -> dict[str, object]:
    """["repetitions=2", "stack.base_port=22000"] to {"repetitions": 2, "stack.base_port": 22000}.

    Values are YAML, as in the study file. InputError names every pair that is not key=value, or
    a key with two values.
    """
    found = each_of(pairs, _override)
    if twice := [key for key, many in Counter(key for key, _ in found).items() if many > 1]:
        where = f"--set {twice[0][:80]}"
        raise InputError("this key is given more than once.", where, "give it one value.")
    return dict(found)


def _override(pair: str) -> tuple[str, object]:
    from density_study.workloads.base.yaml_text import MAX_DEPTH, parse_yaml

    key, equals, text = pair.partition("=")
    where = f"--set {pair[:80]}"
    if not equals or not key:
        raise InputError("expected key=value.", where, "write it like this: --set repetitions=2.")
    if key.count(".") >= MAX_DEPTH:
        raise InputError(
            f"the key has more than {MAX_DEPTH} levels.",
            where,
            "write it like this: --set stack.base_port=22000.",
        )
    try:
        return key, parse_yaml(text, where).value
    except InputError as error:
        raise InputError(error.what, where, "write the value as in a study file.") from error


PANELS = {
    "Start": ("init", "example", "doctor", "plan", "rehearse"),
    "Run": ("run", "status", "watch", "list", "rm", "reap"),
    "Results": ("report", "compare", "export", "import", "mcp"),
    "A cluster to use": ("up", "shell", "down"),
    "Set-up": ("setup", "airflow", "notify", "sudo-rules", "schema", "stack"),
    "A purchase": ("capacity",),
}


def _shown(params: list[Any]) -> list[Any]:
    for param in params:
        if isinstance(param, TyperOption) and param.is_flag:
            param.metavar = ""  # without it, Typer shows `<bool>`
        elif isinstance(param, TyperArgument):
            argument: Any = param
            argument.display_type_rich = lambda **_: (
                None
            )  # else `<path>` of a run or a study's name
    return params


def _check_no_empty(command: str, words: list[str]) -> None:
    """A path that is empty would be the working folder. What follows `--` may belong to another program."""
    own = words[: words.index("--")] if "--" in words else words
    for before, word in zip(["", *own], own, strict=False):
        name, equals, value = word.partition("=")
        is_empty_option = word.startswith("--") and equals and not value
        if not word or is_empty_option:
            raise InputError(
                f"{name or before or 'an argument'} has an empty value.",
                command,
                "give it a value, or leave it out; a variable of the shell may be unset.",
            )


def _check_no_input_is_lost(params: dict[str, Any]) -> None:
    """InputError for a file that the command would read, and then overwrite with its result."""

    def file_of(value: object) -> tuple[int, int] | None:
        if isinstance(value, str | Path):
            with suppress(OSError, ValueError):  # a text that names no file
                status = Path(value).stat()
                return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
        return None

    values = {name: one if isinstance(one, list) else [one] for name, one in params.items()}
    read = {
        file_of(one) for name, each in values.items() if name not in _OUTPUTS for one in each
    } - {None}
    for name in _OUTPUTS:
        output = params.get(name)
        if file_of(output) in read:
            raise InputError(
                "this is also an input, which would be lost.",
                f"--{name} {output}",
                "name another file.",
            )


_everywhere = typer.Typer(add_completion=False)


@_everywhere.command()
def _of_all(
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print results and errors only.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "-v", "--verbose", help="Also print log messages, and the calls behind an error."
        ),
    ] = False,
) -> None:
    """Options of every command."""


EVERYWHERE = typer.main.get_command(_everywhere).params


def _given(params: dict[str, Any], name: str) -> str:
    """What the user gave for SPEC or RUN, as a shell reads it; "" if nothing."""
    from density_study.workloads.study.shipped import name_of

    path = params.get(name)
    return shlex.quote(name_of(path)) if isinstance(path, Path) else ""


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        *own, of_help = super().get_params(ctx)
        return _shown([*own, *EVERYWHERE, of_help])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        from density_study.dags.cli.console import CommandLine, begin, err

        words, warnings = present(ctx.command_path.partition(" ")[2], args)
        if not ctx.resilient_parsing:  # not while the shell completes
            _check_no_empty(ctx.command_path, words)
            for warning in warnings:
                err.print(warning)
        rest = super().parse_args(ctx, words)
        _check_no_input_is_lost(ctx.params)
        begin(
            CommandLine(
                quiet=ctx.params.pop("quiet", False),
                verbose=ctx.params.pop("verbose", False),
                study=_given(ctx.params, "spec"),
                run=_given(ctx.params, "run"),
            )
        )
        return rest


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _shown(super().get_params(ctx))


def arrange(app: typer.Typer) -> None:
    """Put each command of `app` into its panel, in the panels' order; groups of commands come last."""
    order = [name for names in PANELS.values() for name in names]
    panel_of = {name: panel for panel, names in PANELS.items() for name in names}
    for command in app.registered_commands:
        command.name = command.name or str(command.callback and command.callback.__name__)
        command.cls = _Command
        command.rich_help_panel = panel_of[command.name]
    app.registered_commands.sort(key=lambda command: order.index(str(command.name)))
    app.info.cls = _Group
    for group in app.registered_groups:
        inner = group.typer_instance
        assert inner is not None
        group.rich_help_panel, group.cls = panel_of[str(inner.info.name)], _Group
        for command in inner.registered_commands:
            command.cls = _Command
