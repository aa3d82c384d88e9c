import java.security.MessageDigest;
import java.util.HexFormat;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;

/** Prints the number of cells of a table, and one hash over all of them: key, timestamp, type and value. */
public final class TableDigest {
  public static void main(String[] words) throws Exception {
    MessageDigest hash = MessageDigest.getInstance("SHA-256");
    long cells = 0;
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
        Table table = connection.getTable(TableName.valueOf(words[0]));
        ResultScanner rows = table.getScanner(new Scan().readAllVersions())) {
      for (Result row : rows) {
        for (Cell cell : row.rawCells()) {
          hash.update(KeyValueUtil.ensureKeyValue(cell).getBuffer());
          cells++;
        }
      }
    }
    System.out.println(cells + " cells, " + HexFormat.of().formatHex(hash.digest()));
    System.exit(0); // HBase's client leaves non-daemon threads behind
  }
}
