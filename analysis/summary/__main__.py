"""`python -m density_study.analysis.summary` prints the JSON schema of summary.json."""

from __future__ import annotations

import json

from density_study.analysis.summary.summary import Summary

print(json.dumps(Summary.model_json_schema(), indent=2))
