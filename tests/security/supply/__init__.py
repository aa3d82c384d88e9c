"""What is downloaded, and what of it runs on this machine."""
