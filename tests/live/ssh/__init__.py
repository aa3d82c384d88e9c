"""Hosts over SSH, made of namespaces."""
