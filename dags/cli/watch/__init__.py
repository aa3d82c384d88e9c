"""`study watch`: in the terminal, or on a page."""
