"""The report: one `Summary` in, one self-contained HTML file or a terminal table out.

`page.render` and `page.write` make the file, `table.summary_rows` the rows that `study` prints.
Nothing here reads a record, a table or a clock: what is drawn is what summary.json holds.
"""
