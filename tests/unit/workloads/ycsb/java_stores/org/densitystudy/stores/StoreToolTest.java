package org.densitystudy.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class StoreToolTest {
  @Test
  void aResultIsALineOfJson() {
    assertEquals(
        "{\"command\": \"state\", \"result\": {\"rows\": 3}}",
        StoreTool.json("state", Map.of("rows", 3L)));
    assertEquals(
        "{\"command\": \"state\", \"result\": {\"a\": \"\\\"b\\\\\"}}",
        StoreTool.json("state", Map.of("a", "\"b\\")));
  }

  /** Ten steps of 100 ms each, with 250 ms for one that changes nothing. */
  @Test
  void whatGetsLessIsAwaited() throws Exception {
    AtomicInteger left = new AtomicInteger(10);
    Admin.await(() -> left.decrementAndGet() == 0 ? "" : left + " blocks", 250);
    assertEquals(0, left.get());
  }

  @Test
  void whatStandsStillIsAFault() {
    Exception fault =
        assertThrows(IllegalStateException.class, () -> Admin.await(() -> "3 blocks", 250));
    assertEquals("3 blocks", fault.getMessage());
  }
}
