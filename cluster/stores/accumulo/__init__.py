"""Accumulo as a store."""
