"""Versions and configurations as factors, on real daemons."""
