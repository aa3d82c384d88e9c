"""The report: one `Summary` in, one self-contained HTML file or a terminal table out.

`page.render` and `page.write` make the file; `table.summary_table` makes the table that `study` prints.
Nothing here reads a record, a table or a clock: the report shows what summary.json holds.
"""
