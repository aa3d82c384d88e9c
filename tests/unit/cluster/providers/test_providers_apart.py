"""A provider is a folder: elsewhere nothing asks for its name, and nothing for what isolates its nodes.

What differs is a fact of `Provider`, of `IsolationFacts` or of `ProviderRules`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from density_study.cluster.model.isolation import Isolation
from density_study.cluster.providers.provider import ALL_OURS

ROOT = Path(__file__).parents[4]
ROOMS = ("cluster", "workloads", "analysis", "jobs", "dags")
NAMES = {*ALL_OURS, *Isolation}
MAY_ASK = re.compile(
    rf"['\"](?:{'|'.join(sorted(NAMES))})['\"]|Isolation\.|SIMULATED|isinstance\([^:]*Provider"
)
"""Most files do not: their syntax trees would take seconds."""
EXCEPTIONS = {
    "dags/cli/first/init_command.py": "the providers that `study init` asks for, with a question for each"
}


def asks(source: str) -> Iterator[str]:
    """Comparisons with a name or a kind of isolation, mappings of names, and tests for a class."""
    for node in ast.walk(ast.parse(source)) if MAY_ASK.search(source) else ():
        if isinstance(node, ast.Compare):
            text = ast.unparse(node)
            sides = [node.left, *node.comparators]
            parts = [part for side in sides for part in getattr(side, "elts", [side])]
            named = any(isinstance(part, ast.Constant) and part.value in NAMES for part in parts)
            subject = any(word in text for word in ("provider", "isolation"))
            if (named and subject) or "Isolation." in text or "SIMULATED" in text:
                yield text
        elif isinstance(node, ast.Dict):
            keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
            if len(NAMES.intersection(key for key in keys if isinstance(key, str))) > 1:
                yield ast.unparse(node)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            kind = ast.unparse(node.args[1])
            yield from [ast.unparse(node)] * (kind.endswith("Provider") and kind != "Provider")


def is_its_own(path: str) -> bool:
    return any(
        path.startswith(f"cluster/providers/{name}/")
        or path == f"workloads/study/providers/{name}.py"
        for name in ALL_OURS
    )


def test_nothing_asks_for_the_name_of_a_provider_or_of_an_isolation() -> None:
    found = {
        path: list(asks((ROOT / path).read_text(encoding="utf-8")))
        for room in ROOMS
        for path in (str(file.relative_to(ROOT)) for file in (ROOT / room).rglob("*.py"))
        if not is_its_own(path)
    }
    assert len(found) > 500
    asking = {path: texts for path, texts in found.items() if texts}
    assert {path: texts for path, texts in asking.items() if path not in EXCEPTIONS} == {}
    assert set(EXCEPTIONS) - set(asking) == set()  # an exception that is not needed goes


def test_what_is_forbidden_is_seen() -> None:
    for text in (
        'study.provider == "libvirt"',
        'topology.provider not in ("local", "container")',
        'topology.isolation == "vm"',
        "one.isolation is Isolation.VM",
        '{"local": 1, "physical": 2}',
        "isinstance(provider, LocalProvider)",
    ):
        assert list(asks(text)) == [text.replace('"', "'")]
