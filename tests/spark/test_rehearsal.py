"""A rehearsal from a study to its report: its records pass every check, and its pages say what they are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from density_study.analysis.comparison.history import SUMMARY, read_summary_file
from density_study.cluster.providers.simulated.noise import Noise
from density_study.dags.stages.rehearsal import foreseen, rehearse
from density_study.workloads.execution.run import has_ended, load_run
from density_study.workloads.simulated.effects_file import named_effects
from density_study.workloads.study.study_file import parse_study, read_study

pytestmark = pytest.mark.spark

BIG = Path(__file__).parents[1] / "golden" / "big.yaml"
STUDY = """\
study: rehearsed
provider: libvirt
ssh: {user: nobody}
vms: {network: 192.0.2.0/24, addresses: 192.0.2.100-192.0.2.120, bridge: br0}
hosts:
  - {name: m, address: 192.0.2.10, cores: 8, memory: 24 GiB, roles: [master, client],
     disks: [{path: /data/1, disk_type: flash}]}
  - {name: w, address: 192.0.2.11, cores: 8, memory: 24 GiB, roles: [worker],
     disks: [{path: /data/1, disk_type: flash}, {path: /data/2, disk_type: flash}]}
factors: {vms_per_host: [0, 1, 2]}
stack: {replication: 1}
workloads:
  - testdfsio: {modes: [write, read, random], files: 8, file_size: 256 MiB, read_size: 1 MiB}
  - ycsb:
      records: [200000]
      mixes: [load, read45-insert55, f]
      threads: [8]
      latency_at: [50%, 100/s]
      duration: 60 s
      warm_up: 10 s
      clients: 2
"""


@pytest.mark.slow
def test_every_trial_of_hosts_and_of_vms_is_valid_and_nothing_is_claimed(tmp_path: Path) -> None:
    file = parse_study(STUDY, "rehearsed.yaml", {})
    seen = foreseen(file, tmp_path, named_effects("none"), Noise())
    root = rehearse(seen, tmp_path)
    summary = read_summary_file(root / SUMMARY)
    assert {one.trial: (one.verdict, one.reasons) for one in summary.trials} == {
        str(step.trial): ("valid", ()) for step in seen.plan.trials
    }
    assert {one.verdict for one in summary.findings} == {"inconclusive"}
    assert summary.provider == "simulated" and summary.warnings[0].code == "simulated"
    assert summary.headline.startswith("Simulated: a run with these numbers would report: ")
    assert summary.time.total_s is not None and summary.time.measuring_s is not None
    assert summary.time.total_s > summary.time.measuring_s > 60 * len(seen.plan.trials) / 2
    assert "simulated: nothing was measured" in (root / "report" / "index.html").read_text()
    pages = [*(root / "report").rglob("*.html")]
    assert len(pages) > 10
    assert [one for one in pages if "simulated" not in one.read_text().lower()] == []
    assert "a rehearsal: nothing in it was measured" in (tmp_path / "index.html").read_text()
    assert has_ended(load_run(root))


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_ten_hosts_of_a_company_are_rehearsed_to_their_report(tmp_path: Path) -> None:
    """72 workers, data of twice their memory, five repetitions: as it is, without a word of it changed."""
    file = read_study(BIG)
    seen = foreseen(file, tmp_path, named_effects("none"), Noise())
    root = rehearse(seen, tmp_path)
    summary = read_summary_file(root / SUMMARY)
    assert len(summary.trials) == len(seen.plan.trials) == 240
    assert Counter(one.verdict for one in summary.trials) == {"valid": 240}
    assert {one.verdict for one in summary.findings} == {"inconclusive"}
    assert (root / "report" / "index.html").stat().st_size > 2**20
