"""Makes servers ready for measured trials, with warm code and settled tables, and judges whether they are."""
