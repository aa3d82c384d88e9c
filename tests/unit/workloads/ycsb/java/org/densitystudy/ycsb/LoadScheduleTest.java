package org.densitystudy.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LoadScheduleTest {
  private static final double EXACT = 1e-9;

  @Test
  void aConstantRateIsEvenlySpaced() {
    LoadSchedule schedule = LoadSchedule.parse("10:4:4");
    for (int operation = 0; operation < 40; operation++) {
      assertEquals(operation / 4.0, schedule.dueS(operation, 0), EXACT);
    }
    assertEquals(Double.POSITIVE_INFINITY, schedule.dueS(40, 0));
    assertEquals(10, schedule.seconds());
  }

  @Test
  void aRampAsksForTheAreaBelowIt() {
    LoadSchedule schedule = LoadSchedule.parse("60:0:100");
    assertEquals(3_000, schedule.operationsBefore(60), EXACT);
    assertEquals(750, schedule.operationsBefore(30), EXACT);
    assertEquals(30, schedule.dueS(750, 0), EXACT);
    LoadSchedule down = LoadSchedule.parse("60:100:0");
    assertEquals(2_250, down.operationsBefore(30), EXACT);
    assertEquals(30, down.dueS(2_250, 0), EXACT);
  }

  @Test
  void stepsFollowEachOther() {
    LoadSchedule schedule = LoadSchedule.parse("5:10:10;5:20:20;5:0:0;5:1:1");
    assertEquals(0, schedule.pieceOf(49, 0));
    assertEquals(1, schedule.pieceOf(50, 0));
    assertEquals(5, schedule.dueS(50, 0), EXACT);
    assertEquals(5.05, schedule.dueS(51, 1), EXACT);
    assertEquals(15, schedule.dueS(150, 1), EXACT); // nothing is due in the piece without operations
    assertEquals(3, schedule.pieceOf(150, 0));
    assertEquals(4, schedule.pieceOf(155, 0));
    assertEquals(150, schedule.operationsBefore(12), EXACT);
  }

  @Test
  void bothFunctionsAreEachOthersInverse() {
    LoadSchedule schedule = LoadSchedule.parse("7:3:50;11:50:2.5;3:2.5:2.5;20:0.1:900");
    double last = -1;
    for (long operation = 0; schedule.dueS(operation, 0) < schedule.seconds(); operation++) {
      double due = schedule.dueS(operation, 0);
      assertTrue(due >= last);
      assertEquals(operation, schedule.operationsBefore(due), 1e-6);
      last = due;
    }
    assertTrue(last > 39.9);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "10:1", "10:1:1;", "0:1:1", "10:-1:1", "ten:1:1", "10:1:NaN"})
  void anythingElseIsRefused(String text) {
    assertThrows(IllegalArgumentException.class, () -> LoadSchedule.parse(text));
  }
}
