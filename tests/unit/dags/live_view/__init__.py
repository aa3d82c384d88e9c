"""A run under way: what the terminal and the page show."""
