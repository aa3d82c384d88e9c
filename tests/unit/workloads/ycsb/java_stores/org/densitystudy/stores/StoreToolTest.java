package org.densitystudy.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
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
}
