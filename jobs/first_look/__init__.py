"""A trial's numbers and provisional verdict as soon as its record is closed: by pure parsers, without Spark.

The numbers are those of the analysis, from the same tables. Rules that need other trials, or costlier sums,
are left to the analysis: the verdict is provisional.
"""
