"""From curves, demand and a catalogue to the cheapest cluster that meets the SLOs."""
