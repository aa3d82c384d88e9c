import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/** {@code Compact TABLE} forces a major compaction of a table, and no flush. */
public final class Compact {
  public static void main(String[] words) throws Exception {
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create())) {
      connection.getAdmin().majorCompact(TableName.valueOf(words[0]));
    }
    System.exit(0); // HBase's client leaves non-daemon threads behind
  }
}
