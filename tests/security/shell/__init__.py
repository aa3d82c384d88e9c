"""The shell of somebody who works with other software: its variables, umask, limits and paths."""
