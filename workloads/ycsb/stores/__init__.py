"""Stores other than HBase: their bindings, what they refuse, and their rows before a trial."""
