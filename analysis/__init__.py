"""So what: schemas of tables, validity, findings, the report. Reads Parquet, never raw logs."""
