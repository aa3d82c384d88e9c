package org.densitystudy.ycsb;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import site.ycsb.DBException;

class ClientOptionsTest {
  @Test
  void presetsMatchTheDocumentation() throws DBException {
    ClientOptions options = ClientOptions.of(properties());
    assertEquals("usertable", options.table());
    assertArrayEquals(Bytes.toBytes("f"), options.family());
    assertEquals(Durability.USE_DEFAULT, options.durability());
    assertEquals(0, options.scanCaching());
  }

  @Test
  void everyWaitIsBounded() throws DBException {
    Configuration configuration = new Configuration(false);
    ClientOptions.of(properties("hbase.operation.timeout.ms", "7000")).applyTo(configuration);
    assertEquals(7000, configuration.getInt("hbase.client.operation.timeout", 0));
    assertEquals(7000, configuration.getInt("hbase.client.meta.operation.timeout", 0));
    assertEquals(7000, configuration.getInt("hbase.client.scanner.timeout.period", 0));
    assertEquals(20_000, configuration.getInt("hbase.rpc.timeout", 0));
    assertEquals(8, configuration.getInt("hbase.client.retries.number", 0));
  }

  @Test
  void familyIsRequired() {
    var failure = assertThrows(DBException.class, () -> ClientOptions.of(new Properties()));
    assertTrue(failure.getMessage().contains("columnfamily"));
  }

  @ParameterizedTest
  @CsvSource({
    "durability, OFTEN",
    "clientbuffering, true",
    "hbase.retries, -1",
    "hbase.rpc.timeout.ms, 20s",
  })
  void wrongValuesAreRefusedByName(String name, String value) {
    var failure = assertThrows(DBException.class, () -> ClientOptions.of(properties(name, value)));
    assertTrue(failure.getMessage().contains(name), failure.getMessage());
  }

  private static Properties properties(String... more) {
    Properties properties = new Properties();
    properties.setProperty("columnfamily", "f");
    for (int i = 0; i < more.length; i += 2) {
      properties.setProperty(more[i], more[i + 1]);
    }
    return properties;
  }
}
