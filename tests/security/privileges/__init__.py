"""What a user of a host can do with the programs that root runs for him."""
