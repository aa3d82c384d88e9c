"""Made records of trials, as the parsers and the jobs read them."""
