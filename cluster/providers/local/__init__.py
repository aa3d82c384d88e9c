"""Provider `local`: every node is a group of processes on this machine. Needs no root."""

PROVIDERS = {"local": "provider:LocalProvider"}
