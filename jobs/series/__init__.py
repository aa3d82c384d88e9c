"""What happened within a trial, second by second, and during bring-up."""
