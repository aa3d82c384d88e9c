"""The `study` command. A module per subcommand; each calls one function and shows its result."""
