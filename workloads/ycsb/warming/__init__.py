"""Warm-up of the servers before measured trials, and the judgement whether they are warm."""
