"""The model of clients and monitors on a simulated cluster: output in the formats of the real programs."""
