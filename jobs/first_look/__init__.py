"""A trial's numbers and provisional verdict as soon as its record is closed: by pure parsers, without Spark.

Facts and rules are those of the analysis. One fact needs other trials, and is left to it: the verdict is
provisional.
"""
