"""Facts of hosts that trials depend on: read, judged, and set for a trial."""
