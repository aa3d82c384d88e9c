"""Files that a user names and others may have made: plain, bounded and of their form, or one clear error."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from density_study.analysis.capacity.curves.model import read_model
from density_study.analysis.capacity.inputs.points import read_points
from density_study.cluster.model.errors import InputError
from tests.support.hostile.files import HOSTILE

READERS: dict[str, Callable[[Path], object]] = {"model": read_model, "points": read_points}


pytestmark = pytest.mark.usefixtures("watchdog")


@pytest.mark.parametrize("how", HOSTILE)
@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_is_none_is_one_clear_error(reader: str, how: str, tmp_path: Path) -> None:
    path = tmp_path / "named"
    HOSTILE[how](path)
    with pytest.raises(InputError) as caught:
        READERS[reader](path)
    assert str(path) in caught.value.where and caught.value.remedy
    assert len(str(caught.value)) < 2000


def test_a_named_file_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text(
        "group,hosts,vms_per_host,disk_type,value,unit\nsort,3,0,hdd,9,s\n"
    )
    os.symlink(tmp_path / "points.csv", tmp_path / "link")  # noqa: PTH211
    assert len(read_points(tmp_path / "link")) == 1
