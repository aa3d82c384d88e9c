"""From the files of a record to the rows of its tables, and to the facts of its trial: by pure parsers,
Arrow and numpy."""
