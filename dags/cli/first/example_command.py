"""`study example`: write a shipped study, or an example file of `study capacity`."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from density_study.cluster.model.errors import InputError
from density_study.dags.cli.arguments import Json, examples
from density_study.dags.cli.console import out, print_json

EXAMPLES = examples(
    "study example", "study example quickstart mine.yaml", "study example catalog.yaml"
)


def example(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Default: list the names.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The file to write. Default: its name, here."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a shipped study, or an example file of study capacity, to change it. An existing file stays."""
    from density_study.cluster.state.atomic import create_text
    from density_study.workloads.study.schema import schema_file

    known = _known()
    if name is None:
        _listed(known, as_json)
        return
    if name not in known:
        similar = get_close_matches(name, known, n=1)
        remedy = f"did you mean {similar[0]}?" if similar else "`study example` lists the names."
        raise InputError("there is no shipped example with this name.", name[:200], remedy)
    written = file or Path(known[name].name)
    if written.exists():
        raise InputError("the file exists.", str(written), "name another file, or remove this one.")
    text = known[name].read_text(encoding="utf-8")
    create_text(written, re.sub(r"(?<=\$schema=)\S+", lambda _: str(schema_file()), text, count=1))
    if as_json:
        print_json({"file": written})
    else:
        out.print(f"written  {written}")


def _known() -> dict[str, Path]:
    from density_study.analysis.capacity.inputs import example as capacity
    from density_study.workloads.study.shipped import shipped_studies

    files = sorted(Path(capacity.__file__).with_name("examples").iterdir())
    return shipped_studies() | {path.name: path for path in files}


def _listed(known: dict[str, Path], as_json: bool) -> None:
    if as_json:
        print_json(list(known))
    else:
        out.print("\n".join(known))
