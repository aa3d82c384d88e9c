"""Which of Airflow's interfaces the DAGs use: the public ones, and no others without a reason.

Airflow's page "Public Interface" lists the Task SDK (airflow.sdk), the REST API, the command line, plugins,
auth managers, and providers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PUBLIC = {
    "airflow.sdk": "the Task SDK",
    "airflow.sdk.exceptions": "the Task SDK",
    "airflow.plugins_manager": "plugins derive from AirflowPlugin",
    "airflow.api_fastapi.auth.managers.base_auth_manager": "auth managers",
    "airflow.api_fastapi.auth.managers.models.resource_details": "arguments of an auth manager's methods",
    "airflow.providers.smtp.notifications.smtp": "a notifier of a provider",
}
OTHERS = {
    "airflow.api_fastapi.core_api.security": "a plugin's pages must ask for Airflow's login by themselves, "
    "and these are the dependencies that Airflow's own pages use",
    "airflow.api_fastapi.app": "get_auth_manager: whether a reader may see a DAG's runs",
    "airflow.sdk.configuration": "[api] base_url, for links in messages",
    "airflow.sdk.log": "redact: messages must not show secrets that Airflow masks",
}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_every_interface_is_public_or_has_a_reason() -> None:
    files = sorted((ROOT / "dags").rglob("*.py"))
    used = {
        module: path.relative_to(ROOT)
        for path in files
        for module in imports(path)
        if module.split(".")[0] == "airflow"
    }
    assert set(used) == {*PUBLIC, *OTHERS}, {
        module: str(path) for module, path in used.items() if module not in {**PUBLIC, **OTHERS}
    }
