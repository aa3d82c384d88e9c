"""The verdict of the peer check."""
