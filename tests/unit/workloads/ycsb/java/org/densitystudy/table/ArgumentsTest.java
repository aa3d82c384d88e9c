package org.densitystudy.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class ArgumentsTest {
  @Test
  void takesValuesInOrderAndOptionsByName() {
    Arguments arguments = new Arguments(List.of("restore", "--table", "t", "name", "--n", "3"));
    assertEquals("name", arguments.value("the name"));
    assertEquals("t", arguments.option("table"));
    assertEquals(3, arguments.number("n", 1));
    assertEquals(7, arguments.number("absent", 1, 7));
    arguments.finish();
  }

  @Test
  void wrongArgumentsAreRefusedByName() {
    refused("--table is missing", () -> of("x").option("table"));
    refused("the name is missing", () -> of("x").value("the name"));
    refused("--n 0 is below 1", () -> of("x", "--n", "0").number("n", 1));
    refused("--n 1s is not a whole number", () -> of("x", "--n", "1s").number("n", 1));
    refused("--n needs a value", () -> of("x", "--n"));
    refused("--n is given twice", () -> of("x", "--n", "1", "--n", "2"));
    refused("does not know --nn", () -> of("x", "--nn", "1").finish());
    refused("does not take more", () -> of("x", "more").finish());
  }

  private static Arguments of(String... words) {
    return new Arguments(List.of(words));
  }

  private static void refused(String message, Runnable action) {
    var failure = assertThrows(IllegalArgumentException.class, action::run);
    assertTrue(failure.getMessage().endsWith(message), failure.getMessage());
    assertTrue(failure.getMessage().startsWith("x: "), failure.getMessage());
  }
}
