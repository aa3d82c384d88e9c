"""What a stranger may not do: hostile run folders, hosts, study files and shells (SECURITY.md)."""
