"""How far a run is, and which runs there are."""
