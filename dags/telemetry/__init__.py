"""A run for monitoring systems: its newest second as OpenMetrics, its course as OpenTelemetry spans."""
