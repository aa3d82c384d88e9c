"""Rules of each provider for studies: a module per provider with `RULES`, found by the provider's name."""
