"""Builders and oracles that several tests share."""
