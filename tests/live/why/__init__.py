"""Known causes of slow seconds are named."""
