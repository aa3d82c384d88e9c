package org.densitystudy.stores.cassandra;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.densitystudy.stores.HandStore;

/** A column for each field, by prepared statements of the driver. */
public final class HandCassandra implements HandStore {
  private static final Map<String, PreparedStatement> PREPARED = new ConcurrentHashMap<>();
  private final CassandraSession shared;
  private final String table;

  public HandCassandra(Properties properties) throws Exception {
    shared = CassandraSession.SHARED.acquire(properties);
    table =
        CassandraStatement.table(
            properties.getProperty("cassandra.keyspace"), properties.getProperty("table"));
  }

  @Override
  public int read(String key) {
    PreparedStatement read =
        prepared("SELECT * FROM " + table + " WHERE key = ?", ConsistencyLevel.ONE);
    Row row = shared.session().execute(read.bind(key)).one();
    int fields = 0;
    for (int i = 0; i < row.getColumnDefinitions().size(); i++) {
      boolean isKey = row.getColumnDefinitions().get(i).getName().asInternal().equals("key");
      fields += isKey || row.getBytesUnsafe(i) == null ? 0 : 1;
    }
    return fields;
  }

  @Override
  public void update(String key, String field, byte[] value) {
    PreparedStatement update =
        prepared("UPDATE " + table + " SET " + field + " = ? WHERE key = ?", ConsistencyLevel.ALL);
    shared.session().execute(update.bind(ByteBuffer.wrap(value), key));
  }

  private PreparedStatement prepared(String text, ConsistencyLevel level) {
    CqlSession session = shared.session();
    return PREPARED.computeIfAbsent(
        text,
        cql ->
            session.prepare(
                SimpleStatement.builder(cql)
                    .setConsistencyLevel(level)
                    .setIdempotence(true)
                    .build()));
  }

  @Override
  public void close() throws Exception {
    CassandraSession.SHARED.release();
  }
}
