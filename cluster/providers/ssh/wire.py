"""Errors as they go between the controller and an agent: with their fields.

Standard library only: both ends import it.
"""

from __future__ import annotations

from typing import Any

from cluster.model.errors import InputError, StudyError, TearDownError

_ERRORS: dict[str, type[StudyError]] = {
    kind.__name__: kind for kind in (StudyError, InputError, TearDownError)
}


def failure(error: BaseException) -> dict[str, Any]:
    """An exception as the answer to a request."""
    if isinstance(error, StudyError):
        kind = type(error).__name__
        kind = kind if kind in _ERRORS else "StudyError"
        return {"error": kind, "what": error.what, "where": error.where, "remedy": error.remedy}
    if isinstance(error, FileNotFoundError):
        return {"error": "FileNotFoundError", "what": str(error.filename)}
    if isinstance(error, TimeoutError):
        return {"error": "TimeoutError", "what": str(error)}
    return {"error": "other", "what": f"{type(error).__name__}: {error}"}


def raise_failure(answer: dict[str, Any], host: str) -> None:
    """The exception an answer stands for, told with the host it happened on."""
    kind = answer["error"]
    if kind in _ERRORS:
        raise _ERRORS[kind](answer["what"], f"{host}, {answer['where']}", answer["remedy"])
    if kind == "FileNotFoundError":
        raise FileNotFoundError(2, "no such file", f"{host}:{answer['what']}")
    if kind == "TimeoutError":
        raise TimeoutError(answer["what"])
    raise StudyError(f"{answer['what']}.", host, "read the host's own logs, and try again.")
