"""The settings file: plain, bounded and of its form, or one clear error; and ~ in names of files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.ssh.options import identity_file
from density_study.cluster.state.settings import FILE, VARIABLES, setting
from density_study.workloads.study.existing_spec import KerberosSpec
from tests.support.hostile.files import HOSTILE, text

pytestmark = pytest.mark.usefixtures("watchdog")
NOBODY = "~nobody-has-this-name/x"
HARMLESS = {"empty"}
TOML: dict[str, Callable[[Path], object]] = {
    "deep list": text(b"runs = " + b"[" * 100_000),
    "deep table": text(b"runs = " + b"{a=" * 50_000),
    "long key": text(b"a." * 50_000 + b"b = 1"),
    "home of nobody": text(f'runs = "{NOBODY}"'.encode()),
}


@pytest.mark.parametrize("how", [*(name for name in HOSTILE if name not in HARMLESS), *TOML])
def test_a_settings_file_that_is_none_is_one_clear_error(how: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    (HOSTILE | TOML)[how](path)
    with pytest.raises(InputError) as caught:
        setting("runs", {FILE: str(path)})
    assert str(path) in caught.value.where and caught.value.remedy
    assert len(str(caught.value)) < 2000
    assert str(caught.value).count("emedy:") == 1 and ".." not in caught.value.what


@pytest.mark.parametrize(
    "named",
    (
        lambda: setting("runs", {FILE: NOBODY}),
        lambda: identity_file({VARIABLES["ssh_identity"]: NOBODY}),
        lambda: KerberosSpec(ticket_cache=NOBODY).kerberos,
    ),
)
def test_the_home_of_nobody_is_named(named: Callable[[], object]) -> None:
    with pytest.raises(InputError, match="nobody-has-this-name"):
        named()
