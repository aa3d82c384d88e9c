"""The study file: its models, its rules, its settings."""
