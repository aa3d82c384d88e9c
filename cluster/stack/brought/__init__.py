"""Software that no registry has, from files of the user."""
