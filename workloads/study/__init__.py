"""The study file: its models and rules, and the registered workloads."""
