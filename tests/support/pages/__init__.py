"""Pages of the documentation, as tests read them."""
