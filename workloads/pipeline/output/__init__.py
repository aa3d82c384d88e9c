"""Parsers of what the nodes wrote."""
