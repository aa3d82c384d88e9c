"""The plan as data. The summary embeds it, so nothing else of capacity is imported here."""
