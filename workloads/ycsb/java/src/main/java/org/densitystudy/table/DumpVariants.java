package org.densitystudy.table;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * dump-variants --table T --family f --samples A,B --output FILE: a line per row that has one of the samples:
 * its key, then {@code sample=genotype} of each sample in the order of their names, separated by tabs.
 */
record DumpVariants(TableName table, byte[] family, List<String> samples, Path output)
    implements Task {
  record Dumped(String table, long rows) {}

  private static final int ROWS_PER_RPC = 1_000;

  static Task parse(Arguments arguments) {
    return new DumpVariants(
        arguments.table(),
        Bytes.toBytes(arguments.option("family")),
        List.of(arguments.option("samples").split(",", -1)),
        Path.of(arguments.option("output")));
  }

  @Override
  public Dumped run(Session session) throws IOException {
    Scan scan = new Scan().setCaching(ROWS_PER_RPC).setCacheBlocks(false);
    samples.forEach(sample -> scan.addColumn(family, Bytes.toBytes(sample)));
    long rows = 0;
    try (Table open = session.connection().getTable(table);
        ResultScanner found = open.getScanner(scan);
        BufferedWriter lines = Files.newBufferedWriter(output)) {
      for (Result row : found) {
        lines.write(line(row));
        rows++;
      }
    }
    return new Dumped(table.getNameAsString(), rows);
  }

  private static String line(Result row) {
    StringBuilder line = new StringBuilder(Bytes.toString(row.getRow()));
    for (Cell cell : row.rawCells()) {
      String sample = Bytes.toString(CellUtil.cloneQualifier(cell));
      line.append('\t').append(sample).append('=').append(Bytes.toString(CellUtil.cloneValue(cell)));
    }
    return line.append('\n').toString();
  }
}
