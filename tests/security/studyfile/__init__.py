"""What the author of a study file can do: nothing that the file's keys do not say."""
