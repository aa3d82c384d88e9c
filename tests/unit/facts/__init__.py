"""Facts of one trial on made rows."""
