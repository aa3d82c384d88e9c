"""`study schema`: the JSON Schema of a study file, for editors and validators."""

from __future__ import annotations

import typer

from dags.cli.arguments import examples


def add_to(app: typer.Typer) -> None:
    app.command(epilog=examples("study schema > study.schema.json"))(schema)


def schema() -> None:
    """Print the JSON Schema of a study file.

    An editor with a YAML language server completes and checks the keys of a study that begins with
    `# yaml-language-server: $schema=PATH-OR-URL`. Rules that involve several keys are not in the
    schema; `study plan` checks them.
    """
    from workloads.spec.schema import study_schema_json

    typer.echo(study_schema_json(), nl=False)
