package org.densitystudy.stores.kudu;

import java.util.Properties;
import org.apache.kudu.client.KuduClient;
import org.apache.kudu.client.KuduPredicate;
import org.apache.kudu.client.KuduPredicate.ComparisonOp;
import org.apache.kudu.client.KuduSession;
import org.apache.kudu.client.KuduTable;
import org.apache.kudu.client.RowResult;
import org.apache.kudu.client.SessionConfiguration.FlushMode;
import org.apache.kudu.client.Upsert;
import org.densitystudy.stores.HandStore;

/** A column for each field, by Kudu's client; each write sent alone. */
public final class HandKudu implements HandStore {
  private final KuduClient client;
  private final KuduSession session;
  private final KuduTable table;

  public HandKudu(Properties properties) throws Exception {
    client = KuduConnection.SHARED.acquire(properties);
    session = client.newSession();
    session.setFlushMode(FlushMode.AUTO_FLUSH_SYNC);
    table = client.openTable(properties.getProperty("table"));
  }

  @Override
  public int read(String key) throws Exception {
    KuduPredicate exactly =
        KuduPredicate.newComparisonPredicate(
            table.getSchema().getColumn(KuduRows.KEY), ComparisonOp.EQUAL, key);
    int fields = 0;
    for (RowResult row : client.newScannerBuilder(table).addPredicate(exactly).limit(1).build()) {
      for (int i = 1; i < row.getSchema().getColumnCount(); i++) {
        fields += row.getBinaryCopy(i) == null ? 0 : 1;
      }
    }
    return fields;
  }

  @Override
  public void update(String key, String field, byte[] value) throws Exception {
    Upsert upsert = table.newUpsert();
    upsert.getRow().addString(KuduRows.KEY, key);
    upsert.getRow().addBinary(field, value);
    if (session.apply(upsert).hasRowError()) {
      throw new IllegalStateException("a row error");
    }
  }

  @Override
  public void close() throws Exception {
    session.close();
    KuduConnection.SHARED.release();
  }
}
