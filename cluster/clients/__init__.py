"""Client programs and services that use a running cluster."""
