"""Settings of an installation: each is an environment variable, else a key of one TOML file.

The file is $DENSITY_STUDY_SETTINGS, else density-study/settings.toml in $XDG_CONFIG_HOME or ~/.config.
Services and cron jobs find the same values there as a shell.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from density_study.cluster.model.errors import InputError
from density_study.cluster.state.plain_file import read_named, why_unread

FILE = "DENSITY_STUDY_SETTINGS"
VARIABLES = {
    "cache": "DENSITY_STUDY_CACHE",
    "catalogue": "DENSITY_STUDY_CATALOGUE",
    "docs_url": "DENSITY_STUDY_DOCS_URL",
    "home": "DENSITY_STUDY_HOME",
    "hook": "DENSITY_STUDY_HOOK",
    "host_folder": "DENSITY_STUDY_HOST_FOLDER",
    "notifiers": "DENSITY_STUDY_NOTIFIERS",
    "notify_connections": "DENSITY_STUDY_NOTIFY_CONNECTIONS",
    "reports_url": "DENSITY_STUDY_REPORTS_URL",
    "runs": "DENSITY_STUDY_RUNS",
    "ssh_connection": "DENSITY_STUDY_SSH_CONNECTION",
    "ssh_identity": "DENSITY_STUDY_SSH_IDENTITY",
    "state": "DENSITY_STUDY_STATE",
    "studies": "DENSITY_STUDY_STUDIES",
}
"""Key in the file -> environment variable. docs/reference/environment.md says what each one means."""
_NO_PATHS = (
    *("docs_url", "host_folder", "notifiers", "notify_connections", "reports_url"),
    "ssh_connection",
)
_LISTS = ("notifiers", "notify_connections")
"""Settings that are lists, separated by commas."""
_MOST_BYTES = 2**14


def setting(key: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """The value of a setting; None if neither the environment nor the file has it.

    Paths of the file are absolute here: it names them absolute, from ~, or from its own folder. `studies`
    are separated like PATH. InputError for a file that cannot be read or has an unknown key.
    """
    if given := environ.get(VARIABLES[key]):
        return given
    return _from_file(settings_file(environ), FILE in environ).get(key)


def listed(key: str) -> frozenset[str]:
    """The names in a setting that is a list; none if it is not set."""
    names = (name.strip() for name in (setting(key) or "").split(","))
    return frozenset(name for name in names if name)


def settings_file(environ: Mapping[str, str] = os.environ) -> Path:
    """The settings file, which need not exist."""
    if given := environ.get(FILE):
        return expanded(given, FILE).absolute()
    config = environ.get("XDG_CONFIG_HOME") or user_home() / ".config"
    return Path(config) / "density-study" / "settings.toml"


def user_home() -> Path:
    """$HOME, else the folder that the system's list of users names. InputError if there is neither."""
    try:
        return Path.home()
    except RuntimeError as error:
        raise InputError(
            "this user has no home folder.", "HOME", "set HOME to a folder of your own."
        ) from error


def expanded(path: str, where: str) -> Path:
    """`path` with ~ as the home folder that it means. InputError if there is none; where: who names it."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        what = f"{path[:80]!r} is below the home folder of a user who has none here."
        raise InputError(what, where, "write the whole path.") from error


def _from_file(path: Path, named: bool) -> dict[str, str]:
    if str(path) == os.devnull:
        return {}
    try:
        values = tomllib.loads(read_named(path, _MOST_BYTES).decode())
    except (FileNotFoundError, NotADirectoryError) as error:
        if not named:
            return {}
        raise _fault(path, "the file does not exist", f"write it, or unset {FILE}.") from error
    except (OSError, ValueError, RecursionError) as error:  # also of TOML and UTF-8, as ValueErrors
        what = f"the file cannot be read: {why_unread(error)}"
        raise _fault(path, what, 'write `key = "value"` lines.') from error
    return {key: _value(path, key, value) for key, value in values.items()}


def _value(path: Path, key: str, value: object) -> str:
    if key not in VARIABLES:
        similar = get_close_matches(key, VARIABLES, n=1)
        hint = f"did you mean {similar[0]}?" if similar else f"use {', '.join(VARIABLES)}."
        raise _fault(path, f"unknown key {key[:80]!r}", hint)
    values = value if isinstance(value, list) and key in ("studies", *_LISTS) else [value]
    texts = [one for one in values if isinstance(one, str) and one]
    if not texts or len(texts) < len(values):
        raise _fault(path, f"{key} is not text", f'write {key} = "value".')
    if key in _NO_PATHS:
        return ",".join(texts)
    return os.pathsep.join(str(path.parent / expanded(text, str(path))) for text in texts)


def _fault(path: Path, what: str, remedy: str) -> InputError:
    return InputError(f"{what}.", str(path), remedy)
