"""What strangers and full disks do to files, and what notices it."""
