"""Merging disclosures loses nothing: each build's disclosure can be reconstructed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from density_study.analysis.summary.disclosure import DIFFERENCES, merge

keys = st.text("abc", min_size=1, max_size=2)
leaves = st.integers(0, 2) | st.booleans() | st.lists(st.integers(0, 2), max_size=2)
trees = st.recursive(
    leaves, lambda inner: st.dictionaries(keys, inner, min_size=1, max_size=3), max_leaves=8
)
disclosures = st.dictionaries(keys, trees, max_size=3)
builds = st.dictionaries(st.sampled_from(["b1", "b2", "b3"]), disclosures, min_size=1)


def flat(tree: Mapping[str, Any], above: str = "") -> dict[str, str]:
    flattened: dict[str, str] = {}
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            flattened |= flat(value, f"{above}{key}.")
        else:
            flattened[above + key] = json.dumps(value, sort_keys=True)
    return flattened


@given(builds)
def test_common_and_differences_reconstruct_each_build(
    given_builds: dict[str, dict[str, Any]],
) -> None:
    merged = merge(given_builds)
    differences = merged.pop(DIFFERENCES, {})
    for build, disclosure in given_builds.items():
        own = {
            key: text
            for key, by_value in differences.items()
            for text, names in by_value.items()
            if build in names and text != "not disclosed"
        }
        assert flat(merged) | own == flat(disclosure)
        assert not flat(merged).keys() & own.keys()
