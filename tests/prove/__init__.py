"""Proof of what takes too long for every change: live tests, guests, benchmarks and known answers.

`make prove` runs the groups of groups.toml that were verified longest ago and writes what it saw to
docs/proof/ledger.jsonl. Nothing else writes there.
"""
