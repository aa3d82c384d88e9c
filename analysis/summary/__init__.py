"""summary.json: its schema, and the labels and comparisons its readers share."""
