"""Oracles and made runs that the Spark tests share."""
