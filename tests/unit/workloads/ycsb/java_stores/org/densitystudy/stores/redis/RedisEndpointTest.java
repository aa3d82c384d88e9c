package org.densitystudy.stores.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Properties;
import java.util.Vector;
import org.densitystudy.stores.Rows;
import org.densitystudy.stores.StoreTool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisClusterOperationException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import site.ycsb.DBException;
import site.ycsb.Status;

/** What needs no server: whom to ask, what failed, and where the password is. */
class RedisEndpointTest {
  @TempDir Path folder;

  @Test
  void mastersAreNodesWithSlots() {
    String said =
        "a1 10.0.0.1:6379@16379,one.example master - 0 0 3 connected 0-8191\n"
            + "b2 10.0.0.2:6380@16380 slave a1 0 0 3 connected\n"
            + "c3 :6381@16381 myself,master - 0 0 1 connected 8192-16383\n"
            + "d4 10.0.0.4:6379@16379 master - 0 0 4 connected\n";
    assertEquals(
        List.of(new HostAndPort("10.0.0.1", 6379), new HostAndPort("seed", 6381)),
        RedisEndpoint.masters(said, "seed"));
  }

  @Test
  void aFailureOfAClusterIsWhatHappenedToTheServer() {
    JedisClusterOperationException outer = new JedisClusterOperationException("no more attempts");
    assertSame(outer, RedisClusterClient.reason(outer));
    JedisConnectionException cause = new JedisConnectionException("lost");
    outer.addSuppressed(cause);
    assertSame(cause, RedisClusterClient.reason(outer));
  }

  @Test
  void aClusterHasNoScan() {
    assertEquals(
        Status.NOT_IMPLEMENTED,
        new RedisClusterClient().scan("t", "user1", 3, null, new Vector<HashMap<String, site.ycsb.ByteIterator>>()));
  }

  @Test
  void thePasswordIsReadFromItsFile() throws Exception {
    Path file = folder.resolve("password");
    Files.writeString(file, "secret\n");
    Properties properties = new Properties();
    assertNull(Rows.password(properties));
    assertNull(RedisClient.options(properties).getPassword());
    properties.setProperty("store.password.file", file.toString());
    assertEquals("secret", RedisClient.options(properties).getPassword());
    properties.setProperty("store.password.file", folder.resolve("none").toString());
    assertThrows(DBException.class, () -> Rows.password(properties));
  }

  @Test
  void anEndpointIsNeverTheAdminThatEmptiesServers() {
    Properties properties = new Properties();
    properties.setProperty("admin", RedisAdmin.class.getName());
    properties.setProperty("endpoint", "h:6379");
    assertThrows(ClassCastException.class, () -> StoreTool.admin(properties));
  }
}
