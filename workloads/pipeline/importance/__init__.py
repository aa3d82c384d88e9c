"""Variant importance: a random forest on Spark finds the variants that decide about a trait."""
