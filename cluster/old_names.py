"""What earlier versions recorded, under today's names: plans, journals, records, summaries, models and tables
stay readable. CONTRIBUTING.md has the table of old and new names. Pure, standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

KEYS: Mapping[str, str] = {
    "arm": "variant",
    "arms": "variants",
    "headline_setting": "headline_test_case",
    "setting": "test_case",
    "setting_id": "test_case_id",
    "setting_metrics": "test_case_metrics",
    "settings": "test_cases",
    "media": "disk_types",
    "medium": "disk_type",
    "medium_emulated": "disk_type_emulated",
    "medium_random": "disk_type_random",
    "medium_sequential": "disk_type_sequential",
    "sharp": "precise",
    "sharpness": "precision",
}
"""Old key of a JSON object, old column or old table -> its name today."""
VALUES: Mapping[str, str] = {
    "no claim": "inconclusive",
    "reproduced": "confirmed",
    "contradicted": "refuted",
    "emulated-medium": "emulated-disk",
    "given-cluster": "existing-cluster",
    "given-quotas": "existing-quotas",
}
_HAVE_VALUES = ("code", "outcome", "verdict")
_GIVEN = re.compile(r"\Agiven(?=-|\Z)")


def present(value: Any) -> Any:
    """JSON as this version writes it. Of a value that is so already, nothing changes."""
    if isinstance(value, list):
        return [present(one) for one in value]
    if isinstance(value, dict):
        return dict(_pairs(value))
    return value


def present_topology(name: str) -> str:
    """The name that the topology of an existing cluster has today: given-prod is existing-prod."""
    return _GIVEN.sub("existing", name, count=1)


def present_topologies(value: Any) -> Any:
    """A summary about existing clusters, with today's names of their topologies: runs are compared by them.
    Records, and what is analysed from them later, keep the name under which they were measured."""
    if isinstance(value, list):
        return [present_topologies(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {key: present_topologies(one) for key, one in value.items()}
    if isinstance(found.get("topology"), str):
        found["topology"] = present_topology(found["topology"])
    if isinstance(found.get("variants"), dict):
        found["variants"] = {present_topology(key): one for key, one in found["variants"].items()}
    return found


def _pairs(old: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in old.items():
        if key in _HAVE_VALUES and isinstance(value, str):
            yield key, VALUES.get(value, value)
        elif key == "given":
            yield _given(old), present(value)
        else:
            yield KEYS.get(key, key), present(value)


def _given(old: Mapping[str, Any]) -> str:
    """The word had three meanings: a cluster of others, a test case of others, and what the map alone
    says."""
    if "unknown" in old:
        return "given"
    return "imported" if "workload" in old and "imported" not in old else "existing"
