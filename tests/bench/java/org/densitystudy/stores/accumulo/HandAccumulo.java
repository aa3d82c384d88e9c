package org.densitystudy.stores.accumulo;

import java.util.Properties;
import org.apache.accumulo.core.client.AccumuloClient;
import org.apache.accumulo.core.client.BatchWriter;
import org.apache.accumulo.core.client.BatchWriterConfig;
import org.apache.accumulo.core.client.Scanner;
import org.apache.accumulo.core.data.Mutation;
import org.apache.accumulo.core.data.Range;
import org.apache.accumulo.core.security.Authorizations;
import org.densitystudy.stores.HandStore;

/** A column for each field, by Accumulo's client; each write flushed alone. */
public final class HandAccumulo implements HandStore {
  private static final int BATCH = 11; // the fields of a row, and the place that stays empty
  private final AccumuloClient client;
  private final BatchWriter writer;
  private final String table;

  public HandAccumulo(Properties properties) throws Exception {
    table = properties.getProperty("table");
    client = AccumuloConnection.SHARED.acquire(properties);
    writer = client.createBatchWriter(table, new BatchWriterConfig().setMaxWriteThreads(1));
  }

  @Override
  public int read(String key) throws Exception {
    int fields = 0;
    try (Scanner scanner = client.createScanner(table, Authorizations.EMPTY)) {
      scanner.enableIsolation();
      scanner.setReadaheadThreshold(Long.MAX_VALUE);
      scanner.setBatchSize(BATCH);
      scanner.fetchColumnFamily(AccumuloDb.FAMILY);
      scanner.setRange(Range.exact(key));
      for (var entry : scanner) {
        entry.getValue().get();
        fields++;
      }
    }
    return fields;
  }

  @Override
  public void update(String key, String field, byte[] value) throws Exception {
    Mutation mutation = new Mutation(key);
    mutation.at().family(AccumuloDb.FAMILY).qualifier(field).put(value);
    writer.addMutation(mutation);
    writer.flush();
  }

  @Override
  public void close() throws Exception {
    writer.close();
    AccumuloConnection.SHARED.release();
  }
}
