package org.densitystudy.stores.cassandra;

import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.ColumnDefinitions;
import com.datastax.oss.driver.api.core.cql.Row;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.densitystudy.stores.cassandra.CassandraStatement.Kind;
import org.densitystudy.stores.cassandra.CassandraStatement.Shape;
import org.densitystudy.stores.Rows;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB's operations on Cassandra: a row is a partition, a field is a column of bytes. Options: {@link
 * CassandraSession}.
 *
 * <p>An update writes its fields and reads nothing. As in HBase, an update of a missing row writes it, and a delete of
 * a missing row succeeds. Cassandra places rows by a hash of their keys, and so has no scan from a key on: a scan
 * is NOT_IMPLEMENTED, and studies with one are refused.
 */
public final class CassandraClient extends Rows {
  private CassandraSession store;
  private String keyspace;

  /** YCSB creates instances by name, then calls init. */
  public CassandraClient() {}

  @Override
  protected void open(Properties properties) throws DBException {
    keyspace = needed(properties, "cassandra.keyspace");
    store = CassandraSession.SHARED.acquire(properties);
  }

  @Override
  protected void close() throws DBException {
    CassandraSession.SHARED.release();
  }

  @Override
  public Status read(
      String table, String key, Set<String> wanted, Map<String, ByteIterator> result) {
    try {
      CassandraStatement query = statement(Kind.SELECT, table, wanted == null ? Set.of() : wanted);
      Row row = store.session().execute(query.bound(key, Map.of())).one();
      if (row == null) {
        return Status.NOT_FOUND;
      }
      copy(row, result);
      return Status.OK;
    } catch (DriverException failure) {
      return failed("READ", CassandraSession.reason(failure));
    }
  }

  @Override
  public Status delete(String table, String key) {
    return write(Kind.DELETE.name(), table, key, Map.of());
  }

  @Override
  protected Status write(
      String operation, String table, String key, Map<String, ByteIterator> values) {
    try {
      CassandraStatement statement = statement(Kind.valueOf(operation), table, values.keySet());
      store.session().execute(statement.bound(key, values));
      return Status.OK;
    } catch (DriverException failure) {
      return failed(operation, CassandraSession.reason(failure));
    }
  }

  private CassandraStatement statement(Kind kind, String table, Set<String> fields) {
    return store.prepared(new Shape(kind, CassandraStatement.table(keyspace, table), fields));
  }

  /** A field that was never written is null, and not in the result. */
  private static void copy(Row row, Map<String, ByteIterator> into) {
    ColumnDefinitions columns = row.getColumnDefinitions();
    for (int i = 0; i < columns.size(); i++) {
      String name = columns.get(i).getName().asInternal();
      ByteBuffer value = name.equals(CassandraStatement.KEY) ? null : row.getBytesUnsafe(i);
      if (value != null) {
        into.put(name, iterator(value));
      }
    }
  }

  private static ByteIterator iterator(ByteBuffer value) {
    int length = value.remaining();
    if (value.hasArray()) {
      return new ByteArrayByteIterator(
          value.array(), value.arrayOffset() + value.position(), length);
    }
    byte[] bytes = new byte[length];
    value.get(bytes);
    return value(bytes);
  }
}
