"""Settings come from the environment, else from one file; its faults are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.state.settings import FILE, VARIABLES, setting, settings_file


def written(folder: Path, text: str) -> dict[str, str]:
    """The environment that names a file with this text."""
    path = folder / "settings.toml"
    path.write_text(text)
    return {FILE: str(path)}


def test_the_environment_comes_before_the_file(tmp_path: Path) -> None:
    environ = written(tmp_path, 'cache = "/from/file"\n')
    assert setting("cache", environ) == "/from/file"
    assert setting("cache", {**environ, "DENSITY_STUDY_CACHE": "/from/env"}) == "/from/env"
    assert setting("runs", environ) is None


def test_paths_of_the_file_are_relative_to_it_or_to_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    environ = written(
        tmp_path,
        'runs = "runs"\ncache = "~/stacks"\nstudies = ["nightly", "/weekly"]\n'
        'reports_url = "https://reports.example.org"\n',
    )
    assert setting("runs", environ) == str(tmp_path / "runs")
    assert setting("cache", environ) == "/home/me/stacks"
    assert setting("studies", environ) == f"{tmp_path / 'nightly'}:/weekly"
    assert setting("reports_url", environ) == "https://reports.example.org"


def test_the_file_is_in_the_users_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    expected = tmp_path / ".config" / "density-study" / "settings.toml"
    assert settings_file({}) == expected
    assert setting("cache", {}) is None
    expected.parent.mkdir(parents=True)
    expected.write_text('ssh_connection = "lab"')
    assert setting("ssh_connection", {}) == "lab"
    assert settings_file({"XDG_CONFIG_HOME": "/x"}) == Path("/x/density-study/settings.toml")


@pytest.mark.parametrize(
    ("text", "what", "remedy"),
    (
        ('cahce = "/x"', "unknown key 'cahce'", "did you mean cache?"),
        ('zzz = "/x"', "unknown key 'zzz'", "use cache, catalogue"),
        ("cache = 3", "cache is not text", 'write cache = "value"'),
        ('cache = ["/a", "/b"]', "cache is not text", "write cache"),
        ('cache = ""', "cache is not text", "write cache"),
        ("studies = []", "studies is not text", "write studies"),
        ("cache: /x", "cannot be read: ", "key ="),
        ("[section]", "unknown key 'section'", "did you mean"),
    ),
)
def test_a_faulty_file_is_named(tmp_path: Path, text: str, what: str, remedy: str) -> None:
    environ = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        setting("cache", environ)
    assert caught.value.where == environ[FILE]
    assert what in caught.value.what and remedy in caught.value.remedy


def test_a_named_file_must_exist_and_be_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        setting("cache", {FILE: str(tmp_path / "none.toml")})
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="cannot be read"):
        setting("cache", {FILE: str(tmp_path / "bytes.toml")})


def test_every_key_names_its_variable() -> None:
    assert {key: f"DENSITY_STUDY_{key.upper()}" for key in VARIABLES} == VARIABLES
