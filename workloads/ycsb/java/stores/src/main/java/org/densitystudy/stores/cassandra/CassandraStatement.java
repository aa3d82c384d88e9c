package org.densitystudy.stores.cassandra;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatementBuilder;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import site.ycsb.ByteIterator;

/** A prepared statement on some fields of a row; its parameters are their values, in this order, then the key. */
record CassandraStatement(PreparedStatement prepared, List<String> fields) {
  static final String KEY = "key";

  enum Kind {
    SELECT,
    INSERT,
    UPDATE,
    DELETE
  }

  /** What there is one statement for. {@code table}: as {@link #table} writes it. */
  record Shape(Kind kind, String table, Set<String> fields) {
    /** The same, when the caller's set has changed. */
    Shape kept() {
      return new Shape(kind, table, Set.copyOf(fields));
    }

    /** Every replica acknowledges a write, so that a read of one sees it. */
    ConsistencyLevel level() {
      return kind == Kind.SELECT ? ConsistencyLevel.ONE : ConsistencyLevel.ALL;
    }

    /** {@code ordered}: the fields in the order of the parameters. Without fields, a SELECT is of all. */
    String cql(List<String> ordered) {
      String columns = ordered.stream().map(field -> quoted(field) + ", ").collect(joined(""));
      String where = " WHERE " + KEY + " = ?";
      return switch (kind) {
        // With the key, so that a row is a row although it has none of these fields.
        case SELECT -> "SELECT " + (ordered.isEmpty() ? "*" : columns + KEY) + " FROM " + table + where;
        case INSERT -> "INSERT INTO " + table + " (" + columns + KEY + ") VALUES ("
            + "?, ".repeat(ordered.size()) + "?)";
        case UPDATE -> "UPDATE " + table + " SET "
            + ordered.stream().map(field -> quoted(field) + " = ?").collect(joined(", ")) + where;
        case DELETE -> "DELETE FROM " + table + where;
      };
    }
  }

  BoundStatement bound(String key, Map<String, ByteIterator> values) {
    BoundStatementBuilder bound = prepared.boundStatementBuilder();
    int at = 0;
    for (String field : values.isEmpty() ? List.<String>of() : fields) {
      bound = bound.setByteBuffer(at++, ByteBuffer.wrap(values.get(field).toArray()));
    }
    return bound.setString(at, key).build();
  }

  static String table(String keyspace, String table) {
    return quoted(keyspace) + "." + quoted(table);
  }

  static String columns(Collection<String> fields, String type) {
    return fields.stream().map(field -> quoted(field) + " " + type).collect(joined(", "));
  }

  private static Collector<CharSequence, ?, String> joined(String by) {
    return Collectors.joining(by);
  }

  /** As an identifier that keeps its case. */
  private static String quoted(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }
}
