"""Rules a trial must satisfy, and its verdict."""
