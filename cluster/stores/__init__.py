"""Stores that keep YCSB's rows, a folder for each: facts, files, daemons, readiness, clients and rules."""
