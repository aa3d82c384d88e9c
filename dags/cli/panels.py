"""The help of `study`: commands in groups by task, and flags without a value."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

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
    return params


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _shown(super().get_params(ctx))


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
