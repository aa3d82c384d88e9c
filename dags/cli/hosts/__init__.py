"""Commands about the machines of a study, before anything is started there."""
