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
import org.apache.hadoop.hbase.quotas.QuotaSettings;
import org.apache.hadoop.hbase.quotas.QuotaSettingsFactory;
import org.apache.hadoop.hbase.quotas.SpaceViolationPolicy;

/**
 * What an administrator does: {@code digest TABLE} prints the number of cells, and one hash over all of
 * them (key, timestamp, type and value); {@code quota NAMESPACE MIB} limits its space, 0: no limit.
 */
public final class ForeignAdmin {
  public static void main(String[] words) throws Exception {
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create())) {
      if (words[0].equals("digest")) {
        System.out.println(digest(connection, words[1]));
      } else {
        connection.getAdmin().setQuota(quota(words[1], Long.parseLong(words[2])));
      }
    }
    System.exit(0); // HBase's client leaves non-daemon threads behind
  }

  private static QuotaSettings quota(String namespace, long mib) {
    return mib == 0
        ? QuotaSettingsFactory.removeNamespaceSpaceLimit(namespace)
        : QuotaSettingsFactory.limitNamespaceSpace(
            namespace, mib << 20, SpaceViolationPolicy.NO_INSERTS);
  }

  private static String digest(Connection connection, String name) throws Exception {
    MessageDigest hash = MessageDigest.getInstance("SHA-256");
    long cells = 0;
    try (Table table = connection.getTable(TableName.valueOf(name));
        ResultScanner rows = table.getScanner(new Scan().readAllVersions())) {
      for (Result row : rows) {
        for (Cell cell : row.rawCells()) {
          hash.update(KeyValueUtil.ensureKeyValue(cell).getBuffer());
          cells++;
        }
      }
    }
    return cells + " cells, " + HexFormat.of().formatHex(hash.digest());
  }
}
