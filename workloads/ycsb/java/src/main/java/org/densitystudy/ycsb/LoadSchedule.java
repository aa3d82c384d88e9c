package org.densitystudy.ycsb;

import java.util.ArrayList;
import java.util.List;

/**
 * When each operation of a client is due, for a rate that changes with time. Pieces follow each other;
 * within one, the rate changes linearly. Operations are counted from 0, times in seconds from the start.
 */
final class LoadSchedule {
  private record Piece(
      double beginsS, double seconds, double from, double to, double operationsBefore) {

    /** Operations due before {@code atS} seconds of the piece. */
    double operations(double atS) {
      return from * atS + (to - from) * atS * atS / (2 * seconds);
    }

    double operations() {
      return operations(seconds);
    }

    /** When {@code count} operations have become due, in seconds of the piece: the inverse. */
    double after(double count) {
      double slope = (to - from) / seconds;
      double reached = Math.sqrt(Math.max(0, from * from + 2 * slope * count));
      double sum = from + reached; // the stable form of the root: no difference of near numbers
      return sum == 0 ? 0 : 2 * count / sum;
    }
  }

  private final List<Piece> pieces = new ArrayList<>();

  /** {@code SECONDS:FROM:TO;...}: rates in operations per second at both ends of each piece. */
  static LoadSchedule parse(String text) {
    LoadSchedule schedule = new LoadSchedule();
    for (String piece : text.split(";", -1)) {
      String[] numbers = piece.split(":", -1);
      if (numbers.length != 3) {
        throw new IllegalArgumentException("'" + piece + "' is not SECONDS:FROM:TO");
      }
      schedule.add(
          Double.parseDouble(numbers[0]),
          Double.parseDouble(numbers[1]),
          Double.parseDouble(numbers[2]));
    }
    return schedule;
  }

  private void add(double seconds, double from, double to) {
    if (!(seconds > 0 && from >= 0 && to >= 0 && Double.isFinite(seconds + from + to))) {
      throw new IllegalArgumentException(
          "a piece lasts longer than 0 s, at rates of 0 or more: " + seconds + ", " + from + ", " + to);
    }
    pieces.add(new Piece(seconds(), seconds, from, to, operations()));
  }

  int size() {
    return pieces.size();
  }

  /** Length of the whole schedule. */
  double seconds() {
    if (pieces.isEmpty()) {
      return 0;
    }
    Piece last = pieces.get(pieces.size() - 1);
    return last.beginsS + last.seconds;
  }

  double endS(int piece) {
    return pieces.get(piece).beginsS + pieces.get(piece).seconds;
  }

  private double operations() {
    if (pieces.isEmpty()) {
      return 0;
    }
    Piece last = pieces.get(pieces.size() - 1);
    return last.operationsBefore + last.operations();
  }

  /** Operations that are due before {@code atS}. */
  double operationsBefore(double atS) {
    double before = 0;
    for (Piece piece : pieces) {
      if (atS > piece.beginsS) {
        double inside = Math.min(atS - piece.beginsS, piece.seconds);
        before = piece.operationsBefore + piece.operations(inside);
      }
    }
    return before;
  }

  /**
   * The time at which an operation is due, in seconds from the start; infinite after the last one.
   *
   * @param hint the piece to begin with: that of an earlier operation, or 0
   */
  double dueS(long operation, int hint) {
    int at = pieceOf(operation, hint);
    if (at == pieces.size()) {
      return Double.POSITIVE_INFINITY;
    }
    Piece piece = pieces.get(at);
    return piece.beginsS + piece.after(operation - piece.operationsBefore);
  }

  /** The piece in which an operation is due; their number if it is due in none. */
  int pieceOf(long operation, int hint) {
    int at = hint;
    while (at < pieces.size()
        && operation >= pieces.get(at).operationsBefore + pieces.get(at).operations()) {
      at++;
    }
    return at;
  }
}
