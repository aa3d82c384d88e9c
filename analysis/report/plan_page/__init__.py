"""A capacity plan as one HTML page, for the person who approves the purchase."""
