"""An analysis that is killed, or that cannot write."""
