"""What other users of the machine may not do."""
