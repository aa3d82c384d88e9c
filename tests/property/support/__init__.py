"""What the property tests share: files, sums by plain loops, and what holds for every parser."""
