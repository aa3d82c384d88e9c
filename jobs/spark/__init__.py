"""Spark itself: the session, its types, tables as frames, YARN."""
