"""Records of workflow systems and schedulers, read to tasks, and tasks as a profile."""
