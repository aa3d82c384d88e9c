"""Bring-up, tear-down, and the reaping of what dead runs left behind."""
