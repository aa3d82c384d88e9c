package org.densitystudy.table;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.FilterList;
import org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter;
import org.apache.hadoop.hbase.filter.KeyOnlyFilter;

/** count --table T: number of distinct rows, from a scan of every region that returns keys only. */
record CountRows(TableName table) implements Task {
  record Count(String table, long rows) {}

  private static final int ROWS_PER_RPC = 5_000;

  static Task parse(Arguments arguments) {
    return new CountRows(arguments.table());
  }

  @Override
  public Count run(Session session) throws IOException {
    Connection connection = session.connection();
    List<RegionInfo> regions = session.admin().getRegions(table);
    try {
      long rows = regions.parallelStream().mapToLong(region -> rows(connection, region)).sum();
      return new Count(table.getNameAsString(), rows);
    } catch (UncheckedIOException failure) {
      throw failure.getCause();
    }
  }

  private static long rows(Connection connection, RegionInfo region) {
    Scan scan =
        new Scan()
            .withStartRow(region.getStartKey())
            .withStopRow(region.getEndKey())
            .setFilter(new FilterList(new FirstKeyOnlyFilter(), new KeyOnlyFilter()))
            .setCacheBlocks(false)
            .setCaching(ROWS_PER_RPC);
    try (Table table = connection.getTable(region.getTable());
        ResultScanner scanner = table.getScanner(scan)) {
      long rows = 0;
      while (scanner.next() != null) {
        rows++;
      }
      return rows;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
