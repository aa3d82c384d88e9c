"""`study mcp`: answers about runs for agents, by the Model Context Protocol."""
