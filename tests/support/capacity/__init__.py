"""Generated measurements for tests of the capacity model."""
