"""Run time and memory over the size of the input, from several samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from density_study.analysis.capacity.traces.by_size import MEMORY, WORK, Law, laws, read_sizes
from density_study.analysis.capacity.traces.profiled import write_profile
from density_study.analysis.capacity.traces.readers import read_traces
from density_study.cluster.model.errors import InputError

HEAD = "name\tstatus\trealtime\t%cpu\tcpus\tpeak_rss\n"
SIZES = {"s1": 10.0, "s2": 20.0, "s3": 40.0, "s4": 80.0}


def record(folder: Path, noise: float = 0.0, power: float = 1.2) -> Path:
    """ALIGN takes size^power core-hours in two shards, and 2 GiB and a tenth of the size."""
    rows = []
    for place, (name, size) in enumerate(SIZES.items()):
        milliseconds = round(1800e3 * size**power * (1 + noise * (-1) ** place))
        cells = f"COMPLETED\t{milliseconds}\t100%\t1\t{2 + size / 10} GB\n"
        rows += [f"ALIGN ({name}:{shard})\t{cells}" for shard in (1, 2)]
    path = folder / "trace.txt"
    path.write_text(HEAD + "".join(rows) + "INDEX (ref)\tCOMPLETED\t1h\t100%\t1\t4 GB\n")
    return path


def found(folder: Path, noise: float = 0.0) -> tuple[dict[str, Law], list[str]]:
    every, excuses = laws(read_traces([record(folder, noise)]), SIZES)
    return {law.quantity: law for law in every}, excuses


def test_a_power_law_is_found_with_its_interval(tmp_path: Path) -> None:
    exact, excuses = found(tmp_path)
    assert exact[WORK].exponent == pytest.approx(1.2, abs=1e-4)
    assert exact[WORK].at(30.0)[1] == pytest.approx(30**1.2, rel=1e-3)
    assert exact[MEMORY].at(80.0)[1] == pytest.approx(10.0, rel=0.1)
    assert excuses == ["INDEX: 0 samples of known size; a function needs 4 samples of 3 sizes"]
    noisy, _ = found(tmp_path, 0.1)
    law = noisy[WORK]
    assert law.low < 1.2 < law.high
    low, middle, high = law.at(30.0)
    assert low < 30**1.2 < high and low < middle < high


def test_the_interval_is_that_of_the_textbook() -> None:
    """x = 1, 2, 4, 8 and y = 2, 3, 9, 15, by hand: slope 1.03086, s^2 = 0.026744, t(0.95, 2) = 2.91999."""
    sizes, values = np.array([1.0, 2.0, 4.0, 8.0]), np.array([2.0, 3.0, 9.0, 15.0])
    law = Law("a", WORK, 0, 0, 0, sizes, values)
    x, y = np.log(sizes), np.log(values)
    design = np.stack([np.ones(4), x], axis=1)
    coefficients, residual, *_ = np.linalg.lstsq(design, y, rcond=None)
    at = np.array([1.0, np.log(4.0)])
    half = 2.9199856 * np.sqrt(residual[0] / 2 * (1 + at @ np.linalg.inv(design.T @ design) @ at))
    low, middle, high = law.at(4.0)
    assert middle == pytest.approx(np.exp(at @ coefficients))
    assert (low, high) == (
        pytest.approx(middle / np.exp(half)),
        pytest.approx(middle * np.exp(half)),
    )


def test_nothing_is_predicted_far_from_what_was_measured(tmp_path: Path) -> None:
    law = found(tmp_path)[0][WORK]
    law.at(120.0)
    for size in (121.0, 6.0, 0.0, float("nan")):
        with pytest.raises(InputError, match="beyond what ALIGN was measured at"):
            law.at(size)


def test_a_profile_of_a_sample_of_another_size(tmp_path: Path) -> None:
    sizes = tmp_path / "sizes.csv"
    sizes.write_text("sample,gib\n" + "".join(f"{name},{size}\n" for name, size in SIZES.items()))
    output = tmp_path / "p.yaml"
    imported = write_profile([record(tmp_path)], 4, output, sizes, 60.0)
    stages = {stage.name: stage for stage in imported.profile.stages}
    hours = stages["align"].core_hours
    assert hours is not None and hours.tag == "calculated"
    assert hours.value == pytest.approx(60**1.2, rel=1e-3)
    assert stages["index"].core_hours is not None and stages["index"].core_hours.value == 0.25
    assert any(
        "no function of the input's size for index" in line for line in imported.profile.unknown
    )
    with pytest.raises(InputError, match="no run time over size"):
        write_profile([record(tmp_path)], 4, output, None, 60.0)


@pytest.mark.parametrize("rows", ["s1,-1", "s1,x", "s1,1\ns1,2", "s1,1e9"])
def test_impossible_sizes_are_refused(tmp_path: Path, rows: str) -> None:
    path = tmp_path / "sizes.csv"
    path.write_text(f"sample,gib\n{rows}\n")
    with pytest.raises(InputError, match=r"sizes.csv, line \d"):
        read_sizes(path)


def test_sizes_that_are_no_regular_file_are_refused(tmp_path: Path) -> None:
    """A pipe without a writer would wait for ever, and a device has no end."""
    for path in (Path("/dev/zero"), tmp_path / "none.csv"):
        with pytest.raises(InputError):
            read_sizes(path)
