"""Metrics of the daemons, which readiness and the record's counters are read from over JMX."""

from __future__ import annotations

METRICS2 = """\
# How old a number may be that JMX tells, in seconds. Without a sink nothing else is done in this time.
# With the usual 10 s a master that has been ready for seconds still says that it is not.
*.period=1
"""
"""hadoop-metrics2.properties, for every daemon."""
