"""Extras of the package: parts of the program that need further packages, named when these are missing."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from density_study.cluster.model.errors import InputError

MODULES = {
    "airflow": ("airflow",),
    "spark": ("pyspark", "great_expectations", "pandas", "pyarrow", "pyhdrh"),
    "report": ("altair", "vl_convert"),
    "duckdb": ("duckdb",),
    "sbom": ("cyclonedx", "packageurl"),
    "agents": ("mcp",),
    "telemetry": ("prometheus_client", "opentelemetry"),
}
"""Extra -> the modules that this program imports from it (pyproject.toml)."""


def installed(extra: str) -> bool:
    return all(find_spec(module) for module in MODULES[extra])


def need(what: str, *extras: str) -> None:
    """InputError if one of the extras, which `what` needs, is not installed. Imports none of them."""
    if missing := [extra for extra in extras if not installed(extra)]:
        raise _fault(what, missing)


def missing_extra(error: ModuleNotFoundError) -> InputError | None:
    """The extra that would have the module; None if no extra has it."""
    module = (error.name or "").partition(".")[0]
    extras = [extra for extra, modules in MODULES.items() if module in modules]
    return _fault("this command", extras) if extras else None


def _fault(what: str, extras: list[str]) -> InputError:
    return InputError(
        f"{what} needs the extra{'s' if len(extras) > 1 else ''} {', '.join(extras)}.",
        sys.prefix,
        f"install it: pip install 'density-study[{','.join(extras)}]'",
    )
