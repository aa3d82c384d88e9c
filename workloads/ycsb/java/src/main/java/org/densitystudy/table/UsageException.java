package org.densitystudy.table;

/** The command line is wrong. Found before anything is done. */
final class UsageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UsageException(String message) {
    super(message);
  }
}
