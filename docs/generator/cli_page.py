"""Every command of `study` with its arguments, options, exit codes and examples."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

from typer.main import get_command

from density_study.dags.cli.main import app
from docs.generator.markdown import sentence, table

_EXIT_CODES = re.compile(r"Exit codes: (.*?)(?:\n\n|\Z)", re.S)


def commands() -> Iterator[tuple[str, Any]]:
    """(full name, Click command) of `study` and of every command below it, parents first."""
    yield from _below("study", get_command(app))


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for child, inner in getattr(command, "commands", {}).items():
        yield from _below(f"{name} {child}", inner)


def sections() -> Iterator[str]:
    for name, command in commands():
        yield f"## {name}\n"
        yield f"{inspect.cleandoc(command.help or '')}\n"
        yield from _parameters(command)
        if examples := [
            line[4:] for line in (command.epilog or "").splitlines() if line[:4] == "    "
        ]:
            yield "\n".join(("```shell", *examples, "```", ""))


def exit_codes() -> Iterator[tuple[str, str]]:
    """(command, what its help says about its exit codes)."""
    for name, command in commands():
        if match := _EXIT_CODES.search(inspect.cleandoc(command.help or "")):
            yield name, sentence(match[1])


def _parameters(command: Any) -> Iterator[str]:
    rows = [_row(one) for one in command.params if one.name != "help" and not _is_completion(one)]
    if rows:
        yield from table(("argument or option", "default", "meaning"), rows)


def _is_completion(parameter: Any) -> bool:
    """Typer's own options, which exist only on shells that it supports."""
    return parameter.name in ("install_completion", "show_completion")


def _row(parameter: Any) -> tuple[str, str, str]:
    values = parameter.metavar or parameter.name.upper().replace("_", "-")
    if isinstance(parameter.default, Enum):
        values = "|".join(type(parameter.default))
    if parameter.param_type_name == "argument":
        name = values
    else:
        name = ", ".join(parameter.opts) + ("" if parameter.is_flag else f" {values}")
    return f"`{name}`", _default(parameter), sentence(parameter.help or "")


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    value = parameter.default
    if value is None or value is False or value == "":
        return ""
    return f"`{value.value if isinstance(value, Enum) else value}`"
