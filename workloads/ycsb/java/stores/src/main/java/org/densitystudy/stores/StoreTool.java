package org.densitystudy.stores;

import java.lang.reflect.InvocationTargetException;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Collectors;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/**
 * Several commands on a store in one JVM: {@code name=value ... + empty settle state check}, and on a store of
 * others {@code owner facts claim release}. Prints one line of JSON
 * per command; exits with 1 after the first that fails.
 */
public final class StoreTool {
  private static final String PROBE = "density-study-probe";

  private StoreTool() {}

  /** Properties as name=value, then +, then the names of commands. */
  public static void main(String[] arguments) {
    Properties properties = new Properties();
    int at = 0;
    for (; at < arguments.length && !arguments[at].equals("+"); at++) {
      String[] pair = arguments[at].split("=", 2);
      properties.setProperty(pair[0], pair[1]);
    }
    String table = properties.getProperty("table", "usertable");
    int code = 0;
    try (Admin admin = admin(properties)) {
      for (at++; at < arguments.length; at++) {
        Map<String, Object> result = new TreeMap<>();
        switch (arguments[at]) {
          case "empty" -> admin.empty(table);
          case "settle" -> admin.settle(table);
          case "state" -> result = admin.state(table);
          case "owner" -> result = ((Endpoint) admin).owner();
          case "facts" -> result = ((Endpoint) admin).facts();
          case "claim" -> ((Endpoint) admin).claim(Rows.needed(properties, "tag"));
          case "release" -> ((Endpoint) admin).release(Rows.needed(properties, "tag"));
          case "check" -> check(properties, table);
          default -> throw new IllegalArgumentException(arguments[at] + " is no command");
        }
        System.out.println(json(arguments[at], result));
      }
    } catch (Exception failure) {
      failure.printStackTrace();
      code = 1;
    }
    System.exit(code);
  }

  /**
   * The property {@code admin} names its class. On a store of others, which {@code endpoint} names, it must be an
   * Endpoint: any other Admin empties whole servers.
   */
  public static Admin admin(Properties properties) throws Exception {
    Class<? extends Admin> kind = properties.containsKey("endpoint") ? Endpoint.class : Admin.class;
    try {
      return Class.forName(Rows.needed(properties, "admin"))
          .asSubclass(kind)
          .getConstructor(Properties.class)
          .newInstance(properties);
    } catch (InvocationTargetException failure) {
      throw failure.getCause() instanceof Exception cause ? cause : failure;
    }
  }

  /** Writes a row by the binding itself, reads it back, and deletes it. */
  public static void check(Properties properties, String table) throws Exception {
    DB db =
        Class.forName(properties.getProperty("db", ""))
            .asSubclass(DB.class)
            .getDeclaredConstructor()
            .newInstance();
    db.setProperties(properties);
    db.init();
    try {
      Map<String, ByteIterator> row = new HashMap<>();
      row.put("field0", new StringByteIterator("written"));
      require("insert", db.insert(table, PROBE, row));
      Map<String, ByteIterator> found = new HashMap<>();
      require("read", db.read(table, PROBE, null, found));
      if (!"written".equals(found.get("field0").toString())) {
        throw new IllegalStateException("the probe row was read back as something else");
      }
      require("delete", db.delete(table, PROBE));
      if (!db.read(table, PROBE, null, new HashMap<>()).equals(Status.NOT_FOUND)) {
        throw new IllegalStateException("the probe row is still there after its delete");
      }
    } finally {
      db.cleanup();
    }
  }

  private static void require(String operation, Status status) {
    if (!status.isOk()) {
      throw new IllegalStateException(operation + " of a probe row: " + status);
    }
  }

  static String json(String command, Map<String, Object> result) {
    String fields =
        result.entrySet().stream()
            .map(one -> quoted(one.getKey()) + ": " + value(one.getValue()))
            .collect(Collectors.joining(", "));
    return "{\"command\": " + quoted(command) + ", \"result\": {" + fields + "}}";
  }

  private static String value(Object value) {
    return value instanceof Number ? value.toString() : quoted(String.valueOf(value));
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
