"""Cross-validation of the curves against accuracy goals."""
