"""The facts of whole trials: their rows in `metrics`, `checks`, `trial_rate_series` and `steadiness`."""
