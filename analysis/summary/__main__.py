"""`python -m analysis.summary` prints the JSON schema of summary.json."""

from __future__ import annotations

import json

from analysis.summary.summary import schema

print(json.dumps(schema(), indent=2))
