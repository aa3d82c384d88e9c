"""The raw files of a run's records, and the pure parsers behind them."""
