package org.densitystudy.stores.hdfs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Vector;
import java.util.concurrent.atomic.AtomicLong;
import org.densitystudy.stores.StoreTool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/** Files of Hadoop's local file system, in a folder of the test's own. */
class HdfsRowsTest {
  private static final String TABLE = "usertable";

  @TempDir Path folder;

  private Properties properties(String... more) {
    Properties properties = new Properties();
    properties.setProperty("hdfs.folder", folder.resolve("ycsb").toUri().toString());
    properties.setProperty("table", TABLE);
    properties.setProperty("fieldcount", "2");
    for (int at = 0; at < more.length; at += 2) {
      properties.setProperty(more[at], more[at + 1]);
    }
    return properties;
  }

  private static HdfsRows client(Properties properties) throws DBException {
    HdfsRows client = new HdfsRows();
    client.setProperties(properties);
    client.init();
    return client;
  }

  private static Map<String, ByteIterator> row(String first, String second) {
    Map<String, ByteIterator> values = new HashMap<>();
    values.put("field0", new StringByteIterator(first));
    values.put("field1", new StringByteIterator(second));
    return values;
  }

  private static String text(Map<String, ByteIterator> row) {
    return row.get("field0") + " " + row.get("field1");
  }

  private static String read(HdfsRows client, String key) {
    Map<String, ByteIterator> row = new HashMap<>();
    assertEquals(Status.OK, client.read(TABLE, key, null, row));
    return text(row);
  }

  private void load(long from, long to) throws DBException {
    HdfsRows client = client(properties("insertstart", Long.toString(from)));
    for (long number = from; number < to; number++) {
      assertEquals(
          Status.OK, client.insert(TABLE, "user" + number, row("a" + number % 10, "b" + number % 10)));
    }
    client.cleanup();
  }

  @Test
  void aRowIsWhereItsNumberSays() throws Exception {
    load(0, 25);
    HdfsRows client = client(properties());
    assertEquals("a0 b0", read(client, "user0"));
    assertEquals("a4 b4", read(client, "user24"));
    assertEquals("a7 b7", read(client, "user0017"));
    assertEquals(Status.NOT_FOUND, client.read(TABLE, "user25", null, new HashMap<>()));
    assertEquals(Status.NOT_IMPLEMENTED, client.update(TABLE, "user1", row("x", "y")));
    client.cleanup();
    assertEquals(100, Files.size(folder.resolve("ycsb").resolve(TABLE).resolve("0-4")));
  }

  @Test
  void aScanGoesOnInTheFileOfAnotherClientAndEndsWithTheLastRow() throws Exception {
    load(0, 10);
    load(10, 15);
    HdfsRows client = client(properties());
    Vector<HashMap<String, ByteIterator>> rows = new Vector<>();
    assertEquals(Status.OK, client.scan(TABLE, "user8", 4, null, rows));
    assertEquals(
        List.of("a8 b8", "a9 b9", "a0 b0", "a1 b1"), rows.stream().map(HdfsRowsTest::text).toList());
    rows.clear();
    assertEquals(Status.OK, client.scan(TABLE, "user13", 100, null, rows));
    assertEquals(2, rows.size());
    client.cleanup();
  }

  @Test
  void threadsThatInsertTogetherWriteTheRowsInOrder() throws Exception {
    AtomicLong next = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    Vector<Status> seen = new Vector<>();
    List<HdfsRows> clients = new ArrayList<>();
    for (int number = 0; number < 8; number++) {
      clients.add(client(properties()));
    }
    for (HdfsRows client : clients) {
      threads.add(
          new Thread(
              () -> {
                for (long n = next.getAndIncrement(); n < 2000; n = next.getAndIncrement()) {
                  String digits = String.format("%04d", n);
                  seen.add(
                      client.insert(
                          TABLE, "user" + n, row(digits.substring(0, 2), digits.substring(2))));
                }
              }));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    for (HdfsRows client : clients) {
      client.cleanup();
    }
    assertEquals(2000, seen.stream().filter(Status.OK::equals).count());
    HdfsRows reader = client(properties());
    for (int number : new int[] {0, 1, 999, 1234, 1999}) {
      String digits = String.format("%04d", number);
      assertEquals(
          digits.substring(0, 2) + " " + digits.substring(2), read(reader, "user" + number));
    }
    reader.cleanup();
  }

  @Test
  void aRowThatCannotBeWrittenFailsThoseBehindIt() throws Exception {
    HdfsRows client = client(properties());
    assertEquals(Status.OK, client.insert(TABLE, "user0", row("a", "b")));
    assertEquals(Status.ERROR, client.insert(TABLE, "user0", row("a", "b")));
    assertEquals(Status.ERROR, client.insert(TABLE, "user1", row("a", "longer")));
    client.cleanup();
  }

  @Test
  void corruptBytesAreAnErrorNotARow() throws Exception {
    load(0, 10);
    Path file = folder.resolve("ycsb").resolve(TABLE).resolve("0-4");
    byte[] bytes = Files.readAllBytes(file);
    bytes[5] ^= 1;
    Files.write(file, bytes);
    HdfsRows client = client(properties());
    assertEquals(Status.ERROR, client.read(TABLE, "user1", null, new HashMap<>()));
    client.cleanup();
  }

  @Test
  void theToolCountsWholeRowsAndEmptiesTheFolder() throws Exception {
    load(0, 10);
    Path file = folder.resolve("ycsb").resolve(TABLE).resolve("0-4");
    byte[] whole = Files.readAllBytes(file);
    Files.delete(file.resolveSibling(".0-4.crc"));
    Files.write(file, java.util.Arrays.copyOf(whole, 38)); // the last row is cut
    try (HdfsAdmin admin = new HdfsAdmin(properties())) {
      admin.settle(TABLE);
      assertEquals(Map.of("rows", 9L, "files", 1, "files_bytes", 38L), admin.state(TABLE));
    }
    try (HdfsAdmin admin = new HdfsAdmin(properties())) {
      admin.empty(TABLE);
      assertEquals(0L, admin.state(TABLE).get("rows"));
      assertFalse(Files.exists(file));
    }
  }

  @Test
  void theToolChecksARowByTheBinding() throws Exception {
    StoreTool.check(properties("db", HdfsRows.class.getName(), "fieldcount", "1"), TABLE);
  }

  @Test
  void manyRowsAreReadInParts() throws Exception {
    HdfsRows client = client(properties("fieldcount", "1"));
    String value = "x".repeat(1 << 20);
    for (int number = 0; number < 20; number++) {
      client.insert(TABLE, "user" + number, Map.of("field0", new StringByteIterator(value)));
    }
    client.cleanup();
    HdfsFiles files = HdfsFiles.opened(properties());
    assertEquals(8, files.read(3, 20).rows());
    assertArrayEquals(value.getBytes(), files.read(19, 20).bytes());
    assertNull(files.read(20, 1));
    files.close();
  }
}
