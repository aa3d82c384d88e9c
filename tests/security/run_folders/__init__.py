"""A run's folder is data, never orders: what a stranger's folder may make the commands do."""
