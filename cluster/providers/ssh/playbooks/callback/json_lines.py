"""Ansible's output as JSON lines: {"host", "task", "state", "message"}. Loaded by ansible-playbook."""

from __future__ import annotations

import json
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
    name: json_lines
    type: stdout
    short_description: results as JSON lines
    description:
        - One line a result, for the program that started the play.
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "json_lines"

    def v2_runner_on_ok(self, result: Any) -> None:
        _print("ok", result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        _print("failed", result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        _print("unreachable", result)


def _print(state: str, result: Any) -> None:
    found = result.result
    parts = [str(found.get(key, "")).strip() for key in ("msg", "stderr", "stdout")]
    parts += [str(one.get("msg", "")) + str(one.get("stderr", "")) for one in found.get("results", [])
              if one.get("failed")]  # fmt: skip
    message = " ".join(part for part in parts if part)[-600:] if state != "ok" else ""
    line = {"host": result.host.get_name(), "task": result.task.get_name(), "state": state,
            "message": message}  # fmt: skip
    print(json.dumps(line), flush=True)
